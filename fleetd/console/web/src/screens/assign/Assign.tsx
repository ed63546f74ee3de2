import { Alert, Anchor, Button, Card, List, Loader, Select, Stack, Text, TextInput, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useSearchParams } from 'react-router';

import { useMay } from '../../api/me';
import { type Problem, problemOf } from '../../api/problem';
import { useRobots } from '../../live/robots';
import type { Selector } from '../robots/filter';
import { Progress } from './Progress';
import { complete, type Outcome, type What } from './model';
import { assign } from './request';
import { useAssignTexts } from './text';
import { WhatForm } from './WhatForm';

/** Above this many robots, a person types their number. */
const typed = 50;
/** Up to this many robots of a reason are named. */
const named = 5;

/** Reads the selector that another screen handed over in the address. */
function handedOver(query: URLSearchParams): Selector | undefined {
  try {
    return JSON.parse(query.get('selector') ?? '') as Selector;
  } catch {
    return undefined;
  }
}

/** Gives a selection of robots a story, a mode, a setting or places. */
export default function Assign() {
  const t = useAssignTexts();
  const [query] = useSearchParams();
  const given = handedOver(query);
  const may = useMay('assign');
  const fleet = useRobots();
  const [what, setWhat] = useState<What>({ kind: 'story', story: query.get('story') ?? '', rev: 0, apply: 'next_act' });
  const [to, setTo] = useState(given ? 'given' : 'all');
  const [why, setWhy] = useState('');
  const [number, setNumber] = useState('');
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<Problem>();
  const [done, setDone] = useState<{ what: What; outcome: Outcome }>();

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
    queryFn: () => assign(what, selector, { dry: true }),
    enabled: may && complete(what),
    gcTime: 0,
    retry: false,
  });
  const total = dry.data?.total ?? 0;
  const confirmed = total <= typed || number.trim() === String(total);

  const submit = async () => {
    setBusy(true);
    setRefused(undefined);
    try {
      setDone({ what, outcome: await assign(what, selector, { dry: false, expected: total, why }) });
    } catch (thrown) {
      setRefused(problemOf(thrown));
      setNumber('');
    }
    await dry.refetch();
    setBusy(false);
  };
  return (
    <Stack maw={800}>
      <div>
        <Title order={1} size="h2">
          {t.title}
        </Title>
        <Text c="dimmed">{t.about}</Text>
      </div>
      {!may && <Alert color="yellow">{t.forbidden}</Alert>}
      <form
        onSubmit={(e) => {
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
          <Card withBorder>
            <Stack gap="sm">
              <Title order={2} size="h4">
                {t.check}
              </Title>
              {!complete(what) && <Text c="dimmed">{t.incomplete}</Text>}
              {dry.isFetching && !dry.data && <Loader size="sm" aria-label={t.checking} />}
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
              <Button
                type="submit"
                loading={busy}
                disabled={!may || !complete(what) || !dry.data || total === 0 || !confirmed}
                title={may ? undefined : t.forbidden}
              >
                {t.doIt(total)}
              </Button>
            </Stack>
          </Card>
        </Stack>
      </form>
      {done && <Progress what={done.what} outcome={done.outcome} />}
    </Stack>
  );
}

function Refusal({ p, title }: { p: Problem; title: string }) {
  return (
    <Alert color="red" title={title} role="alert">
      <span dir="auto">{[p.message, p.hint].filter(Boolean).join('; ')}</span>
    </Alert>
  );
}

function Summary({ o }: { o: Outcome }) {
  const t = useAssignTexts();
  return (
    <List size="sm" data-testid="dry-run">
      <List.Item>
        <b>{t.updates(o.updated.length, o.total)}</b>
      </List.Item>
      {o.unchanged > 0 && <List.Item>{t.unchanged(o.unchanged)}</List.Item>}
      {o.reasons.map(([why, robots]) => (
        <List.Item key={why}>
          <span dir="auto">{why}</span>: {robots.slice(0, named).join(', ')}
          {robots.length > named ? `, … (${robots.length})` : ''}
        </List.Item>
      ))}
    </List>
  );
}
