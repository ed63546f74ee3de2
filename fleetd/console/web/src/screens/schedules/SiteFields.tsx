import {
  ActionIcon,
  Alert,
  Button,
  Card,
  Checkbox,
  Group,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconTrash } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { useMay } from '../../api/me';
import { Refused } from '../../shell/Refused';
import { SendRow } from '../../shell/SendRow';
import { useRightTexts } from '../../text/rights';
import { ActionFields } from './ActionFields';
import { firstAction } from './actionForm';
import { putSite } from './api';
import { days, type Site } from './types';
import { siteLines } from './lines';
import { missingOf, siteForm, type SiteForm, siteOf } from './siteForm';
import { useSchedulesTexts } from './text';
import { DayChips, ZoneField } from './TimesFields';

const workdays = days.slice(1, 5);

/** Time zone, opening hours, exceptions and maintenance windows of a site, and what happens when it opens and closes. */
export function SiteFields({ id, of }: { id: string; of?: Site }) {
  const t = useSchedulesTexts();
  const { lacks } = useRightTexts();
  const queries = useQueryClient();
  const may = useMay('assign', 'command');
  const [f, set] = useState<SiteForm>(() => siteForm(of));
  const [why, setWhy] = useState('');
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<unknown>();
  const put = (some: Partial<SiteForm>) => set({ ...f, ...some });
  const body = siteOf(f);
  const missing = missingOf(f);
  const reason = !may ? lacks(t.forbidden, 'assign') : missing ? t[missing] : '';
  const submit = async () => {
    if (reason) return;
    setBusy(true);
    setRefused(undefined);
    try {
      await putSite(id, { ...body, why: why.trim() || undefined });
      notifications.show({ message: t.siteSaved });
      setWhy('');
      await queries.invalidateQueries({ queryKey: ['schedules'] });
    } catch (thrown) {
      setRefused(thrown);
    }
    setBusy(false);
  };
  return (
    <Stack>
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        <Card withBorder component="section" aria-label={t.hours}>
          <Stack gap="sm">
            <Title order={2} size="h4">
              {t.hours}
            </Title>
            <ZoneField value={f.zone} onChange={(zone) => put({ zone })} />
            <Text size="xs" c="dimmed">
              {t.hoursHelp}
            </Text>
            {days.map((d) => (
              <Group key={d} gap="sm" wrap="nowrap">
                <Text size="sm" w={44} aria-hidden>
                  {t.dayNames[d]}
                </Text>
                <TextInput
                  flex={1}
                  aria-label={`${t.hours}: ${t.dayNames[d]}`}
                  placeholder={t.closed}
                  value={f.hours[d]}
                  dir="ltr"
                  onChange={(e) => put({ hours: { ...f.hours, [d]: e.currentTarget.value } })}
                />
              </Group>
            ))}
            <Group>
              <Button
                size="compact-sm"
                variant="default"
                disabled={!f.hours.mon}
                onClick={() =>
                  put({ hours: { ...f.hours, ...Object.fromEntries(workdays.map((d) => [d, f.hours.mon])) } })
                }
              >
                {t.likeMonday}
              </Button>
            </Group>
          </Stack>
        </Card>
        <Stack>
          <Card withBorder component="section" aria-label={t.exceptions}>
            <Stack gap="sm">
              <Title order={2} size="h4">
                {t.exceptions}
              </Title>
              <Text size="xs" c="dimmed">
                {t.exceptionsHelp}
              </Text>
              <Exceptions f={f} put={put} />
            </Stack>
          </Card>
          <Card withBorder component="section" aria-label={t.windows}>
            <Stack gap="sm">
              <Title order={2} size="h4">
                {t.windows}
              </Title>
              <Text size="xs" c="dimmed">
                {t.windowsHelp}
              </Text>
              <Windows f={f} put={put} />
            </Stack>
          </Card>
        </Stack>
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        {(['open', 'close'] as const).map((k) => {
          const title = k === 'open' ? t.whenOpens : t.whenCloses;
          const action = f[k];
          return (
            <Card key={k} withBorder component="section" aria-label={title}>
              <Stack gap="sm">
                <Title order={2} size="h4">
                  {title}
                </Title>
                <Checkbox
                  label={t.doesNothing}
                  checked={!action}
                  onChange={(e) =>
                    put({
                      [k]: e.currentTarget.checked
                        ? undefined
                        : { ...firstAction, performance: k === 'open' ? 'start' : 'stop' },
                    })
                  }
                />
                {action && <ActionFields form={action} label={t.actionIs} onChange={(a) => put({ [k]: a })} />}
              </Stack>
            </Card>
          );
        })}
      </SimpleGrid>
      {days.some((d) => f.hours[d].trim()) && !f.open && !f.close && (
        <Alert color="yellow" title={t.hoursAlone} data-testid="hours-alone">
          <Button
            size="compact-sm"
            variant="default"
            onClick={() =>
              put({ open: { ...firstAction, performance: 'start' }, close: { ...firstAction, performance: 'stop' } })
            }
          >
            {t.startAndStop}
          </Button>
        </Alert>
      )}
      {f.close?.performance === 'stop' && !f.open && <Alert color="yellow" title={t.neverStarts} />}
      <TextInput label={t.siteReason} value={why} maxLength={256} onChange={(e) => setWhy(e.currentTarget.value)} />
      {refused !== undefined && <Refused error={refused} />}
      <SendRow
        label={t.saveSite}
        busy={busy}
        reason={reason}
        onSend={() => void submit()}
        lines={missing ? undefined : siteLines(id, body)}
      />
    </Stack>
  );
}

interface PartProps {
  f: SiteForm;
  put: (some: Partial<SiteForm>) => void;
}

function Exceptions({ f, put }: PartProps) {
  const t = useSchedulesTexts();
  const change = (at: number, some: Partial<SiteForm['exceptions'][number]>) =>
    put({ exceptions: f.exceptions.map((e, n) => (n === at ? { ...e, ...some } : e)) });
  return (
    <>
      {f.exceptions.map((e, n) => (
        <Group key={n} gap="xs" align="flex-end" role="group" aria-label={`${t.exceptions} ${n + 1}`}>
          <TextInput
            type="date"
            label={t.date}
            value={e.date}
            onChange={(ev) => change(n, { date: ev.currentTarget.value })}
          />
          <TextInput
            type="date"
            label={t.until}
            value={e.until}
            onChange={(ev) => change(n, { until: ev.currentTarget.value })}
          />
          <TextInput
            label={t.otherHours}
            placeholder={t.closed}
            w={140}
            dir="ltr"
            value={e.hours}
            onChange={(ev) => change(n, { hours: ev.currentTarget.value })}
          />
          <TextInput
            label={t.name}
            w={140}
            dir="auto"
            maxLength={63}
            value={e.name}
            onChange={(ev) => change(n, { name: ev.currentTarget.value })}
          />
          <Remove
            label={t.removeException(n + 1)}
            onClick={() => put({ exceptions: f.exceptions.filter((_, at) => at !== n) })}
          />
        </Group>
      ))}
      <Group>
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => put({ exceptions: [...f.exceptions, { date: '', until: '', hours: '', name: '' }] })}
        >
          {t.addException}
        </Button>
      </Group>
    </>
  );
}

function Windows({ f, put }: PartProps) {
  const t = useSchedulesTexts();
  const change = (at: number, some: Partial<SiteForm['windows'][number]>) =>
    put({ windows: f.windows.map((w, n) => (n === at ? { ...w, ...some } : w)) });
  return (
    <>
      {f.windows.map((w, n) => (
        <Group key={n} gap="xs" align="flex-end" role="group" aria-label={`${t.windows} ${n + 1}`}>
          <TextInput
            label={t.span}
            placeholder="22:00-05:00"
            w={130}
            dir="ltr"
            value={w.span}
            onChange={(e) => change(n, { span: e.currentTarget.value })}
          />
          <DayChips label={t.days} value={w.days} onChange={(d) => change(n, { days: d })} />
          <Remove
            label={t.removeWindow(n + 1)}
            onClick={() => put({ windows: f.windows.filter((_, at) => at !== n) })}
          />
        </Group>
      ))}
      <Group>
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => put({ windows: [...f.windows, { days: [...days], span: '' }] })}
        >
          {t.addWindow}
        </Button>
      </Group>
    </>
  );
}

function Remove({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <ActionIcon variant="default" size="lg" aria-label={label} title={label} onClick={onClick}>
      <IconTrash size={18} aria-hidden />
    </ActionIcon>
  );
}
