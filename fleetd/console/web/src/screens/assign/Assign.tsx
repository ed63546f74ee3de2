import {
  Alert,
  Anchor,
  Button,
  Card,
  Group,
  Loader,
  Select,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useSearchParams } from 'react-router';

import { useMay } from '../../api/me';
import { type Problem, problemOf } from '../../api/problem';
import { robots, useRobots } from '../../live/robots';
import { useLive } from '../../live/stream';
import { useScope } from '../../shell/scope';
import { CommandLine } from '../../shell/CommandLine';
import type { Selector } from '../robots/filter';
import { Progress } from './Progress';
import { lineFor } from './lines';
import { changing, complete, type Outcome, type What } from './model';
import { assign } from './request';
import { Refusal, Summary } from './Summary';
import { useAssignTexts } from './text';
import { WhatForm } from './WhatForm';

/** Above this many robots, a person types their number. */
const typed = 50;

/** Reads the selector that another screen handed over in the address. */
function handedOver(query: URLSearchParams): Selector | undefined {
  try {
    return JSON.parse(query.get('selector') ?? '') as Selector;
  } catch {
    return undefined;
  }
}

/** What another screen asks to assign. */
function asked(query: URLSearchParams): What {
  const activities = query.getAll('activity');
  if (activities.length > 0) return { kind: 'activities', ids: activities };
  return { kind: 'story', story: query.get('story') ?? '', rev: Number(query.get('rev')) || 0, apply: 'next_act' };
}

/** Gives a selection of robots a story, activities, a mode, a setting or places. */
export default function Assign() {
  const t = useAssignTexts();
  const [query] = useSearchParams();
  const given = handedOver(query);
  const may = useMay('assign');
  const fleet = useRobots();
  const [what, setWhat] = useState<What>(() => asked(query));
  const site = useScope((s) => s.site);
  const live = useLive((s) => s.connection === 'live');
  const [to, setTo] = useState(given ? 'given' : site ? `site=${site}` : 'all');
  const [why, setWhy] = useState('');
  const [number, setNumber] = useState('');
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<Problem>();
  const [done, setDone] = useState<{ at: number; what: What; outcome: Outcome }>();

  const labels = [...new Set(fleet.flatMap((r) => Object.entries(r.labels).map(([k, v]) => `${k}=${v}`)))].sort();
  const label = to.indexOf('=');
  const selector: Selector =
    to === 'given' && given
      ? given
      : label > 0
        ? { labels: [{ key: to.slice(0, label), value: to.slice(label + 1) }] }
        : { all: true };
  const dry = useQuery({
    queryKey: ['assign', what, selector],
    queryFn: () => assign(what, selector, { dry: true }, robots.everything()),
    enabled: may && complete(what),
    gcTime: 0,
    retry: false,
  });
  const total = dry.data?.total ?? 0;
  const nothing = !!dry.data && changing(dry.data).length === 0;
  const reason = !may
    ? t.forbidden
    : !complete(what)
      ? t.incomplete
      : dry.data && total === 0
        ? t.nobody
        : nothing
          ? t.nothingChanges
          : !live
            ? t.lost
            : '';
  const confirmed = total <= typed || number.trim() === String(total);

  const submit = async () => {
    setBusy(true);
    setRefused(undefined);
    try {
      setDone({
        at: Date.now(),
        what,
        outcome: await assign(what, selector, { dry: false, expected: total, why }, robots.everything()),
      });
    } catch (thrown) {
      setRefused(problemOf(thrown));
      setNumber('');
    }
    await dry.refetch();
    setBusy(false);
  };
  return (
    <Stack maw={1600}>
      <div>
        <Title order={1} size="h2">
          {t.title}
        </Title>
        <Text c="dimmed">{t.about}</Text>
      </div>
      {!may && <Alert color="yellow">{t.forbidden}</Alert>}
      <SimpleGrid
        cols={{ base: 1, lg: 2 }}
        component="form"
        onSubmit={(e: React.FormEvent) => {
          e.preventDefault();
          void submit();
        }}
      >
        <Stack>
          <WhatForm what={what} onChange={setWhat} />
          <Card withBorder>
            <Stack gap="sm">
              <Title order={2} size="h4">
                {t.who}
              </Title>
              <Select
                aria-label={t.who}
                value={to}
                allowDeselect={false}
                searchable
                data={[
                  ...(given ? [{ value: 'given', label: t.chosen }] : []),
                  { value: 'all', label: t.everyone },
                  ...labels,
                ]}
                onChange={(v) => v && setTo(v)}
              />
              <Anchor component={Link} to="/robots" size="sm">
                {t.chooseInRobots}
              </Anchor>
            </Stack>
          </Card>
        </Stack>
        <Stack>
          <Card withBorder>
            <Stack gap="sm">
              <Title order={2} size="h4">
                {t.check}
              </Title>
              {!complete(what) && <Text c="dimmed">{t.incomplete}</Text>}
              {dry.isFetching && !dry.data && complete(what) && <Loader size="sm" aria-label={t.checking} />}
              {dry.isError && complete(what) && <Refusal p={problemOf(dry.error)} title={t.refused} />}
              {dry.data && complete(what) && <Summary o={dry.data} />}
              <TextInput label={t.why} value={why} maxLength={256} onChange={(e) => setWhy(e.currentTarget.value)} />
              {total > typed && (
                <TextInput
                  label={t.typeNumber(total)}
                  value={number}
                  inputMode="numeric"
                  onChange={(e) => setNumber(e.currentTarget.value)}
                />
              )}
              {refused && (
                <Refusal p={refused} title={refused.kind === 'count-changed' ? t.changedMeanwhile : t.refused} />
              )}
              {reason && complete(what) && may && (
                <Text size="sm" c="dimmed" role="status">
                  {reason}
                </Text>
              )}
              <Group>
                <Button
                  type="submit"
                  flex={1}
                  loading={busy}
                  disabled={!!reason || !dry.data || !confirmed}
                  title={reason || undefined}
                >
                  {t.doIt(dry.data ? changing(dry.data).length : 0)}
                </Button>
                {complete(what) && <CommandLine lines={[lineFor(what, selector, dry.data ? total : undefined, why)]} />}
              </Group>
            </Stack>
          </Card>
          {done && (
            <Progress
              key={done.at}
              what={done.what}
              outcome={done.outcome}
              onBack={(w, o) => setDone({ at: Date.now(), what: w, outcome: o })}
            />
          )}
        </Stack>
      </SimpleGrid>
    </Stack>
  );
}
