import {
  Alert,
  Anchor,
  Button,
  Card,
  Checkbox,
  Code,
  Group,
  List,
  Loader,
  NativeSelect,
  NumberInput,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useNavigate, useParams } from 'react-router';

import { useMay } from '../../api/me';
import { Refused } from '../../shell/Refused';
import { SendRow } from '../../shell/SendRow';
import { useRightTexts } from '../../text/rights';
import { areLabels, labelTexts, onlyLabels, selectorOf } from '../policies/labels';
import { Labels } from '../policies/Labels';
import { ActionFields } from './ActionFields';
import { actionForm, actionOf, firstAction } from './actionForm';
import { nextOf, putSchedule, useSchedules } from './api';
import type { Schedule, ScheduleBody, Times } from './types';
import { DeleteDialog } from './DeleteDialog';
import { putLines } from './lines';
import { useSchedulesTexts } from './text';
import { everyTime, formOf, timesOf } from './times';
import { TimesFields } from './TimesFields';

/** Names of schedules; some are addresses of the console or of fleetd. */
const valid = /^(?!(?:new|next|runs)$)[a-z0-9][a-z0-9-]{0,62}$/;

/** One schedule, or a new one. */
export default function SchedulePage() {
  const t = useSchedulesTexts();
  const { id = 'new' } = useParams();
  const list = useSchedules();
  if (!list.data) return list.isError ? <Refused error={list.error} /> : <Loader aria-label={t.checking} />;
  const schedule = list.data.find((s) => s.id === id);
  if (id !== 'new' && !schedule)
    return (
      <Stack align="flex-start">
        <Title order={1} size="h2">
          {t.unknown(id)}
        </Title>
        <Anchor component={Link} to="/schedules">
          {t.toAll}
        </Anchor>
      </Stack>
    );
  return <Form key={id} of={schedule} known={list.data.map((s) => s.id)} />;
}

function Form({ of, known }: { of?: Schedule; known: string[] }) {
  const t = useSchedulesTexts();
  const { lacks } = useRightTexts();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const may = useMay('assign', 'command', 'manual');
  const [id, setID] = useState(of?.id ?? '');
  const [times, setTimes] = useState(of ? formOf(of) : everyTime());
  const [action, setAction] = useState(of ? actionForm(of.action) : firstAction);
  const [all, setAll] = useState(!!of?.selector?.all);
  const [labels, setLabels] = useState<string[]>(of?.selector ? labelTexts(of.selector) : []);
  const [missed, setMissed] = useState<keyof typeof t.misseds>(of?.missed ?? 'skip');
  const [within, setWithin] = useState<number | string>(of?.within_s ? of.within_s / 60 : 60);
  const [enabled, setEnabled] = useState(of?.enabled ?? true);
  const [why, setWhy] = useState(of?.why ?? '');
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<unknown>();
  const [deleting, setDeleting] = useState(false);

  const taken = !of && !busy && known.includes(id);
  const when = timesOf(times);
  const does = actionOf(action);
  const ownRobots = action.kind === 'rollout';
  // What else only the command line chooses, such as names and modes, stays as it is.
  const kept = of?.selector && !onlyLabels(of.selector) ? of.selector : undefined;
  const selected = ownRobots || !!kept || all || (labels.length > 0 && areLabels(labels));
  const [asked] = useDebouncedValue(JSON.stringify(when), 200);
  const next = useQuery({
    queryKey: ['schedules', 'next', asked],
    queryFn: () => nextOf(JSON.parse(asked!) as Times),
    enabled: !!asked,
    placeholderData: keepPreviousData,
    gcTime: 0,
    retry: false,
  });
  const body: ScheduleBody | undefined =
    when && does
      ? {
          ...when,
          action: does,
          selector: ownRobots ? undefined : (kept ?? selectorOf(all, labels)),
          missed: missed === 'run_once' ? missed : undefined,
          within_s: missed === 'run_once' ? Math.round(Number(within) * 60) : undefined,
          enabled: enabled ? undefined : false,
          why: why.trim() || undefined,
        }
      : undefined;
  const reason = [
    !may && lacks(t.forbidden, 'assign'),
    !valid.test(id) && t.badName,
    taken && t.taken,
    !when && t.noTime,
    !does && t.noAction,
    !selected && t.noRobots,
    next.isError && t.refused,
  ].find((r) => !!r);
  const submit = async () => {
    if (reason || !body) return;
    setBusy(true);
    setRefused(undefined);
    try {
      await putSchedule(id, body);
      notifications.show({ message: t.saved });
      await queries.invalidateQueries({ queryKey: ['schedules'] });
      void navigate('/schedules');
    } catch (thrown) {
      setRefused(thrown);
    }
    setBusy(false);
  };
  return (
    <Stack maw={1400}>
      <Stack gap={4}>
        <Anchor component={Link} to="/schedules" size="sm">
          {t.toAll}
        </Anchor>
        <Title order={1} size="h2" dir="auto">
          {of ? of.id : t.new}
        </Title>
      </Stack>
      {of?.site_of && (
        <Alert color="blue" title={t.ownedBySite(of.site_of)}>
          <Anchor component={Link} to={`/schedules?tab=calendar&site=${encodeURIComponent(of.site_of)}`}>
            {t.toCalendar}
          </Anchor>
        </Alert>
      )}
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        <Stack>
          <Card withBorder>
            <Stack gap="sm">
              {!of && (
                <TextInput
                  label={t.name}
                  description={t.idHelp}
                  value={id}
                  maxLength={63}
                  dir="ltr"
                  onChange={(e) => setID(e.currentTarget.value)}
                />
              )}
              <TimesFields form={times} onChange={setTimes} />
            </Stack>
          </Card>
          <Card withBorder>
            <ActionFields form={action} onChange={setAction} label={t.actionIs} />
          </Card>
          <Card withBorder>
            <Stack gap="sm">
              <Title order={2} size="h4">
                {t.who}
              </Title>
              {ownRobots ? (
                <Text size="sm">{t.rolloutWho}</Text>
              ) : kept ? (
                <>
                  <Text size="sm">{t.keptRobots}</Text>
                  <Code block>{JSON.stringify(kept, undefined, 2)}</Code>
                </>
              ) : (
                <Labels
                  help={t.whoHelp}
                  all={all}
                  labels={labels}
                  onChange={(a, l) => {
                    setAll(a);
                    setLabels(l);
                  }}
                />
              )}
            </Stack>
          </Card>
        </Stack>
        <Card withBorder style={{ alignSelf: 'start' }}>
          <Stack gap="sm">
            <Title order={2} size="h4">
              {t.nextTen}
            </Title>
            {next.isFetching && !next.data && asked && <Loader size="sm" aria-label={t.checking} />}
            {next.isError && asked && <Refused error={next.error} />}
            {next.data && asked && !next.isError && (
              <>
                <Text size="xs" c="dimmed">
                  {t.nextHelp(next.data.zone)}
                </Text>
                {next.data.next.length === 0 && <Text size="sm">{t.noNext}</Text>}
                <List size="sm" type="ordered" data-testid="next-ten">
                  {next.data.next.map((i) => (
                    <List.Item key={i.at}>
                      {i.local}
                      {i.note && (
                        <Text span size="sm" fw={500} dir="auto">
                          {' '}
                          – {i.note}
                        </Text>
                      )}
                    </List.Item>
                  ))}
                </List>
              </>
            )}
            <Group align="flex-end">
              <NativeSelect
                label={t.missed}
                value={missed}
                data={Object.entries(t.misseds).map(([value, label]) => ({ value, label }))}
                onChange={(e) => setMissed(e.currentTarget.value as typeof missed)}
              />
              {missed === 'run_once' && (
                <NumberInput label={t.within} value={within} min={1} max={10_080} onChange={setWithin} w={220} />
              )}
            </Group>
            <Checkbox label={t.enabled} checked={enabled} onChange={(e) => setEnabled(e.currentTarget.checked)} />
            <TextInput label={t.reason} value={why} maxLength={256} onChange={(e) => setWhy(e.currentTarget.value)} />
            {refused !== undefined && <Refused error={refused} />}
            <SendRow
              label={t.save}
              busy={busy}
              reason={reason}
              onSend={() => void submit()}
              lines={body && valid.test(id) && !taken ? putLines(id, body) : undefined}
            >
              {of && !of.site_of && (
                <Button variant="default" disabled={!may} onClick={() => setDeleting(true)}>
                  {t.delete}
                </Button>
              )}
            </SendRow>
          </Stack>
        </Card>
      </SimpleGrid>
      {deleting && of && <DeleteDialog id={of.id} onClose={() => setDeleting(false)} />}
    </Stack>
  );
}
