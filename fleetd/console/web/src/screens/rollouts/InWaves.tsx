import { Card, Checkbox, Group, Loader, NativeSelect, Stack, TextInput, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';

import { quoted } from '../../api/commandline';
import { lineOf } from '../../api/lines';
import { useMay } from '../../api/me';
import { problemOf } from '../../api/problem';
import { useLive } from '../../live/stream';
import { NumberChanged } from '../../shell/NumberChanged';
import { Refused } from '../../shell/Refused';
import { SendRow } from '../../shell/SendRow';
import { complete, type What } from '../assign/model';
import { useAssignTexts } from '../assign/text';
import type { Selector } from '../robots/filter';
import { create, plan } from './api';
import type { NewRollout } from './types';
import { contentOf } from './content';
import { PlanPicture } from './PlanPicture';
import { usePlanTexts } from './planText';
import { SpecFields } from './SpecFields';
import { readable, sized, specOf, type SpecForm } from './spec';
import { typed } from './states';

/** ms until the plan is asked for again: robots come and go. */
const again = 10_000;

interface Props {
  what: What;
  selector?: Selector;
  form: SpecForm;
  onForm: (f: SpecForm) => void;
  why: string;
  onWhy: (why: string) => void;
}

/** The lines of the command line that create a rollout; how it goes may need a file. */
function linesFor(body: NewRollout): string[] {
  const create = lineOf('create-rollout', { body });
  return create.includes('--plan=plan.json')
    ? [`echo ${quoted(JSON.stringify(body.spec))} > plan.json`, create]
    : [create];
}

/** How a rollout in waves goes, what would happen as a picture, and its start. */
export function InWaves({ what, selector, form, onForm, why, onWhy }: Props) {
  const t = usePlanTexts();
  const words = useAssignTexts();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const may = useMay('assign');
  const live = useLive((s) => s.connection === 'live');
  const [name, setName] = useState('');
  const [when, setWhen] = useState<keyof typeof t.whens>('now');
  const [at, setAt] = useState('');
  const [agreed, agree] = useState(0);
  const [number, setNumber] = useState('');
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<unknown>();
  const [before, setBefore] = useState<number>();

  const content = complete(what) ? contentOf(what) : undefined;
  const spec = specOf(form);
  const sure = sized(form) && readable(form);
  const asked = content && selector && readable(form) ? { content, selector, spec } : undefined;
  const text = JSON.stringify(asked);
  const [settled] = useDebouncedValue(text, 250);
  const dry = useQuery({
    queryKey: ['rollouts', 'plan', settled],
    queryFn: () => plan(JSON.parse(settled!) as NonNullable<typeof asked>),
    enabled: may && !!asked && sure && !!settled,
    placeholderData: keepPreviousData,
    refetchInterval: again,
    gcTime: 0,
    retry: false,
  });
  const p = asked && sure && !dry.isError ? dry.data : undefined;
  const taken = p?.superseding.reduce((n, s) => n + s.robots, 0) ?? 0;
  const total = p?.total ?? 0;
  const firstWave = p?.waves.find((w) => w.total > 0)?.total ?? 0;
  const reason = [
    !may && words.forbidden,
    !complete(what) && words.incomplete,
    !selector && words.noTarget,
    !live && words.lost,
    !sized(form) && t.noSize,
    !readable(form) && t.badNumber,
    dry.isError && words.asRefused,
    // The plan shown may still be that of what was entered before.
    (!p || dry.isPlaceholderData || settled !== text) && words.checking,
    total === 0 && words.nobody,
    taken > 0 && agreed !== taken && t.agreeFirst,
    when === 'at' && !at && t.noTime,
    total > typed && number.trim() !== String(total) && words.typeNumber(total),
  ].find((r) => !!r);
  const body: NewRollout | undefined = asked && {
    ...asked,
    name: name.trim() || undefined,
    digest: p?.digest,
    expected_count: p && total,
    supersede: taken > 0 ? taken : undefined,
    start: when === 'now' || undefined,
    not_before: when === 'at' && at ? new Date(at).toISOString() : undefined,
    why: why.trim() || undefined,
  };
  const submit = async () => {
    if (reason || !body) return;
    setBusy(true);
    setRefused(undefined);
    setBefore(undefined);
    try {
      const made = await create(body);
      notifications.show({ message: t.created });
      onWhy('');
      // First away from here: a new plan would warn of the rollout that just began.
      await navigate(`/rollouts/${encodeURIComponent(made.id)}`);
      void queries.invalidateQueries({ queryKey: ['rollouts'] });
    } catch (thrown) {
      if (problemOf(thrown).numberChanged) setBefore(total);
      else setRefused(thrown);
      setNumber('');
      await dry.refetch();
    }
    setBusy(false);
  };
  const press = p?.needs_approval
    ? t.ask(total)
    : when === 'now'
      ? t.start(firstWave)
      : when === 'at'
        ? t.schedule(total)
        : t.prepare(total);
  return (
    <Card withBorder>
      <Stack gap="sm">
        <SpecFields form={form} onChange={onForm} />
        <Title order={2} size="h4">
          {t.plan}
        </Title>
        {dry.isFetching && !p && asked && <Loader size="sm" aria-label={words.checking} />}
        {dry.isError && asked && <Refused error={dry.error} />}
        {p && <PlanPicture of={p} />}
        {taken > 0 && (
          <Checkbox
            label={t.agree(taken)}
            checked={agreed === taken}
            onChange={(e) => agree(e.currentTarget.checked ? taken : 0)}
          />
        )}
        <Group align="flex-end" gap="sm">
          <NativeSelect
            label={t.when}
            value={when}
            data={Object.entries(t.whens).map(([value, label]) => ({ value, label }))}
            onChange={(e) => setWhen(e.currentTarget.value as typeof when)}
          />
          {when === 'at' && (
            <TextInput
              type="datetime-local"
              label={t.startsAt}
              value={at}
              onChange={(e) => setAt(e.currentTarget.value)}
            />
          )}
          <TextInput
            label={t.title}
            value={name}
            maxLength={63}
            flex="1 1 12rem"
            dir="auto"
            onChange={(e) => setName(e.currentTarget.value)}
          />
        </Group>
        <TextInput label={words.why} value={why} maxLength={256} onChange={(e) => onWhy(e.currentTarget.value)} />
        {total > typed && (
          <TextInput
            label={words.typeNumber(total)}
            value={number}
            inputMode="numeric"
            onChange={(e) => setNumber(e.currentTarget.value)}
          />
        )}
        {before !== undefined && <NumberChanged before={before} now={dry.isFetching ? undefined : total} />}
        {refused !== undefined && <Refused error={refused} />}
        <SendRow
          label={press}
          busy={busy}
          reason={reason}
          onSend={() => void submit()}
          lines={body && linesFor(body)}
        />
      </Stack>
    </Card>
  );
}
