import { Card, Loader, SegmentedControl, SimpleGrid, Stack, Text, TextInput, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useSearchParams } from 'react-router';

import { useMay } from '../../api/me';
import { type Problem, problemOf } from '../../api/problem';
import { robots, useRobots } from '../../live/robots';
import { useLive } from '../../live/stream';
import { OwnAddresses } from '../../shell/ownAddresses';
import { NumberChanged } from '../../shell/NumberChanged';
import { ScreenHead } from '../../shell/ScreenHead';
import { SendRow } from '../../shell/SendRow';
import type { Selector } from '../robots/filter';
import { InWaves } from '../rollouts/InWaves';
import { usePlanTexts } from '../rollouts/planText';
import { defaults, type SpecForm } from '../rollouts/spec';
import { addressOf, selectorIn, wavesIn, whatIn } from './address';
import { Last } from './Last';
import { lineFor } from './lines';
import { changing, complete, type Outcome, revisionsOf, type What } from './model';
import { Progress } from './Progress';
import { assign } from './request';
import { Refusal, Summary } from './Summary';
import { clock } from '../../text/time';
import { groupOf } from './target';
import { useAssignTexts } from './text';
import { WhatForm } from './WhatForm';
import { WhoForm } from './WhoForm';

/** Above this many robots, a person types their number. */
const typed = 50;
/** ms without a change until the address and the dry run follow. */
const calm = 250;
/** ms until the dry run is asked again for what the live summaries of robots do not show. */
const again = 10_000;

interface Asked {
  what: What;
  selector?: Selector;
  /** How it goes in waves; undefined = all at once. */
  waves?: SpecForm;
}

const askedIn = (q: URLSearchParams): Asked => ({ what: whatIn(q), selector: selectorIn(q), waves: wavesIn(q) });
const addressFor = (a: Asked) => addressOf(a.what, a.selector, a.waves);

/** What is assigned, to whom and how, which the address follows. */
function useAsked(): [Asked, (a: Asked) => void] {
  const [query, setQuery] = useSearchParams();
  const [asked, setAsked] = useState<Asked>(() => askedIn(query));
  const [own] = useState(() => new OwnAddresses(query.toString()));
  useEffect(() => {
    if (own.isForeign(query.toString())) setAsked(askedIn(query));
  }, [query]);
  const [settled] = useDebouncedValue(asked, calm);
  useEffect(() => {
    const next = addressFor(settled);
    if (next.toString() === addressFor(askedIn(new URLSearchParams(own.newest))).toString()) return;
    own.write(next.toString());
    setQuery(next, { replace: true });
  }, [settled]);
  return [asked, setAsked];
}

/** Gives a selection of robots a story, activities, a mode, a setting or places. */
export default function Assign() {
  const t = useAssignTexts();
  const plans = usePlanTexts();
  const [{ what, selector, waves: chosenWaves }, ask] = useAsked();
  // What robots had before differs between them, so no rollout brings it.
  const waves = what.kind === 'back' ? undefined : chosenWaves;
  const [given] = useState(() => (groupOf(selector) === 'given' ? selector : undefined));
  const [query] = useSearchParams();
  const may = useMay('assign');
  const fleet = useRobots();
  const queries = useQueryClient();
  const live = useLive((s) => s.connection === 'live');
  const [why, setWhy] = useState('');
  const [number, setNumber] = useState('');
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<Problem>();
  const [agreed, setAgreed] = useState(0);
  const [done, setDone] = useState<{ at: number; what: What; address?: string; back?: boolean; outcome: Outcome }>();

  // What would happen follows what robots are asked to have, also by other people.
  const [revisions] = useDebouncedValue(revisionsOf(fleet), calm);
  const asked = complete(what) && !!selector;
  const address = addressOf(what, selector).toString();
  const dry = useQuery({
    queryKey: ['assign', what, selector, revisions],
    queryFn: () => assign(what, selector!, { dry: true }, robots.everything()),
    enabled: may && asked,
    placeholderData: (before, query) =>
      query?.queryKey[1] === what && query.queryKey[2] === selector ? keepPreviousData(before) : undefined,
    refetchInterval: again,
    gcTime: 0,
    retry: false,
  });
  const total = dry.data?.total ?? 0;
  const changes = dry.data ? changing(dry.data).length : 0;
  const tooMany = total > typed && number.trim() !== String(total);
  const reason = [
    !may && t.forbidden,
    !complete(what) && t.incomplete,
    !selector && t.noTarget,
    !live && t.lost,
    dry.isError && t.asRefused,
    !dry.data && t.checking,
    total === 0 && t.nobody,
    changes === 0 && t.nothingChanges,
    tooMany && t.typeNumber(total),
  ].find((r) => !!r);

  const counted = (how: string) => (total > 0 ? `${how} (${total})` : how);
  // What would happen says nothing new about what has just been assigned.
  const justDone = changes === 0 && done?.address === address;
  const submit = async () => {
    if (reason || !selector) return;
    setBusy(true);
    setRefused(undefined);
    try {
      setDone({
        at: Date.now(),
        what,
        address,
        outcome: await assign(what, selector, { dry: false, expected: total, why }, robots.everything()),
      });
      setWhy('');
    } catch (thrown) {
      setAgreed(total);
      setRefused(problemOf(thrown));
    }
    setNumber('');
    await queries.invalidateQueries({ queryKey: ['assign'] });
    void queries.invalidateQueries({ queryKey: ['rollouts', 'list'] });
    setBusy(false);
  };
  /** The assignment was reverted: how far the robots are is followed from now on. */
  const taken = (w: What, o: Outcome) => {
    setDone({ at: Date.now(), what: w, back: true, outcome: o });
    void queries.invalidateQueries({ queryKey: ['assign'] });
    void queries.invalidateQueries({ queryKey: ['rollouts', 'list'] });
  };
  return (
    <Stack maw={1600}>
      <ScreenHead title={t.title} about={t.about} />
      <SimpleGrid
        cols={{ base: 1, lg: 2 }}
        component="form"
        // Enter in a field of robots chooses a robot; only the button assigns.
        onSubmit={(e: React.FormEvent) => e.preventDefault()}
      >
        <Stack>
          <WhatForm what={what} onChange={(w) => ask({ what: w, selector, waves: chosenWaves })} />
          <WhoForm
            selector={selector}
            given={given}
            robotsAt={`/robots?${new URLSearchParams({ assign: addressOf(what, selector, waves).toString() })}`}
            onChange={(s) => ask({ what, selector: s, waves: chosenWaves })}
          />
        </Stack>
        <Stack>
          <Card withBorder>
            <Stack gap="xs">
              <Title order={2} size="h4">
                {plans.how}
              </Title>
              <SegmentedControl
                fullWidth
                aria-label={plans.how}
                value={waves ? 'waves' : 'once'}
                disabled={what.kind === 'back'}
                data={[
                  { value: 'once', label: counted(plans.atOnce) },
                  { value: 'waves', label: counted(plans.inWaves) },
                ]}
                onChange={(how) => ask({ what, selector, waves: how === 'waves' ? defaults : undefined })}
              />
              <Text size="xs" c="dimmed">
                {what.kind === 'back' ? plans.noWaves : waves ? plans.inWavesHelp : plans.atOnceHelp}
              </Text>
            </Stack>
          </Card>
          {waves ? (
            <InWaves
              what={what}
              selector={selector}
              form={waves}
              onForm={(f) => ask({ what, selector, waves: f })}
              why={why}
              onWhy={setWhy}
            />
          ) : (
            <Card withBorder>
              <Stack gap="sm">
                <Title order={2} size="h4">
                  {t.check}
                </Title>
                {dry.isFetching && !dry.data && asked && <Loader size="sm" aria-label={t.checking} />}
                {dry.isError && asked && <Refusal p={problemOf(dry.error)} title={t.refused} />}
                {dry.data && asked && justDone && (
                  <Text size="sm">
                    {t.justAssigned(changing(done.outcome).length, clock(new Date(done.at).toISOString()))}
                  </Text>
                )}
                {dry.data && asked && !justDone && <Summary o={dry.data} what={what} />}
                <TextInput label={t.why} value={why} maxLength={256} onChange={(e) => setWhy(e.currentTarget.value)} />
                {total > typed && (
                  <TextInput
                    label={t.typeNumber(total)}
                    value={number}
                    inputMode="numeric"
                    onChange={(e) => setNumber(e.currentTarget.value)}
                  />
                )}
                {refused?.numberChanged && <NumberChanged before={agreed} now={dry.isFetching ? undefined : total} />}
                {refused && !refused.numberChanged && <Refusal p={refused} title={t.refused} />}
                <SendRow
                  label={t.doIt(asked ? changes : 0)}
                  busy={busy}
                  reason={reason}
                  onSend={() => void submit()}
                  lines={asked ? [lineFor(what, selector, dry.data ? total : undefined, why)] : undefined}
                />
              </Stack>
            </Card>
          )}
          {done && !waves && (
            <Progress
              key={done.at}
              back={done.back}
              at={done.at}
              what={done.what}
              outcome={done.outcome}
              onBack={taken}
            />
          )}
        </Stack>
      </SimpleGrid>
      <Last at={query.get('at') ?? undefined} revisions={revisions} onBack={taken} />
    </Stack>
  );
}
