import { Anchor, Card, Group, List, Loader, Stack, Text, Title } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { Link } from 'react-router';

import { api, data } from '../../api/client';
import { line } from '../../api/commandline';
import { useRobots } from '../../live/robots';
import { CommandLine } from '../../shell/CommandLine';
import { Refused } from '../../shell/Refused';
import { dateTime } from '../../text/time';
import { useRollouts } from '../rollouts/api';
import { RevertButton } from './RevertButton';
import { givenText, type Last as One, outcomeOf, rolloutOf, whatOf } from './last';
import { type Outcome, reportOf, type What } from './model';
import { names } from './Summary';
import { useAssignTexts } from './text';
import { useNamed } from './useNamed';

/** ms until the reports of robots are asked for again. */
const again = 5000;

interface Query {
  robot?: string;
  at?: string;
  limit?: number;
}

/** The last assignments as fleetd has them; they are asked for again when revisions (of revisionsOf) changes. */
export function useLast(query: Query, revisions: number, enabled = true) {
  return useQuery({
    queryKey: ['assign', 'last', query, revisions],
    queryFn: () => data(api.GET('/api/v1/assignments', { params: { query } })).then((all) => all.assignments),
    placeholderData: keepPreviousData,
    refetchInterval: again,
    enabled,
  });
}

interface Props {
  /** The time of the assignment that somebody came to see. */
  at?: string;
  revisions: number;
  onBack: (what: What, outcome: Outcome) => void;
}

/** The last assignments: who gave which robots what, how it ended, and the way back of each. */
export function Last({ at, revisions, onBack }: Props) {
  const t = useAssignTexts();
  const list = useLast({ limit: 10 }, revisions);
  const asked = useLast({ at }, revisions, !!at);
  const rollouts = useRollouts({}, again);
  const place = useRef<HTMLDivElement>(null);
  const arrived = !!at && !!asked.data;
  useEffect(() => {
    if (arrived) place.current?.scrollIntoView({ block: 'start' });
  }, [arrived]);
  const first = (at && asked.data) || [];
  const rest = (list.data ?? []).filter((a) => !first.some((f) => f.id === a.id));
  return (
    <Stack component="section" aria-label={t.last} ref={place} gap="sm" style={{ scrollMarginTop: 80 }}>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {t.last}
        </Title>
        <Anchor component={Link} to="/rollouts" size="sm" ms="auto">
          {t.allRollouts}
        </Anchor>
        <CommandLine compact lines={[line('desired', 'assignments', at && `--at=${at}`)]} />
      </Group>
      {list.isPending && <Loader size="sm" aria-label={t.checking} />}
      {list.isError && <Refused error={list.error} onRetry={() => void list.refetch()} />}
      {arrived && first.length === 0 && <Text role="status">{t.lastReplaced}</Text>}
      {list.data && first.length + rest.length === 0 && <Text c="dimmed">{t.lastNone}</Text>}
      {[...first, ...rest].map((a) => (
        <Item
          key={a.id + a.by}
          of={a}
          rollout={rolloutOf(a, rollouts.data?.rollouts ?? [])}
          chosen={first.includes(a)}
          onBack={onBack}
        />
      ))}
    </Stack>
  );
}

interface ItemProps {
  of: One;
  rollout?: { id: string };
  chosen: boolean;
  onBack: Props['onBack'];
}

function Item({ of: a, rollout, chosen, onBack }: ItemProps) {
  const t = useAssignTexts();
  const ids = a.groups.flatMap((g) => g.robots);
  const fleet = useRobots();
  const named = useNamed(whatOf(a));
  const given = [...new Set(a.groups.map((g) => named(givenText(a.kind, g.now, t.changedValue))))];
  const whole = [...new Set(a.groups.map((g) => givenText(a.kind, g.now)))];
  const kind = a.kind;
  // fleetd counts a robot that has it and begins later among those that accepted it.
  const later =
    kind === 'story' || kind === 'activities'
      ? fleet.filter((r) => ids.includes(r.id) && reportOf(kind, r).later).length
      : 0;
  return (
    <Card
      withBorder
      p="sm"
      data-testid="last"
      style={chosen ? { borderColor: 'var(--mantine-primary-color-filled)' } : {}}
    >
      <Group justify="space-between" align="flex-start" gap="sm">
        <Stack gap={6} flex="1 1 20rem" miw={0}>
          <Text fw={500} dir="auto" className="any-text" title={whole.join('; ')}>
            {t.kinds[a.kind === 'config' ? 'settings' : a.kind]}: {given.join('; ')} {a.reverts && t.again}
          </Text>
          <Text size="sm">
            {(a.reverts ? t.lastRevertedBy : t.lastBy)(a.by || t.fleetd, dateTime(a.at))}: {names(ids, 20)}
            {a.why && ` – ${a.why}`}
          </Text>
          <List size="sm">
            {a.groups.map((g) => (
              <List.Item key={g.robots[0]}>
                <span dir="auto" className="any-text" title={givenText(a.kind, g.before)}>
                  {g.no_way_back ?? t.lastBefore(named(givenText(a.kind, g.before, t.valueOnHover)))}
                </span>
                {g.replaced && `, ${replacedText(t, g.replaced)}`}
                {a.groups.length > 1 && ` (${names(g.robots, 20)})`}
              </List.Item>
            ))}
            {rollout && (
              <List.Item>
                <Anchor component={Link} to={`/rollouts/${encodeURIComponent(rollout.id)}`} size="sm">
                  {t.itsRollout}
                </Anchor>
              </List.Item>
            )}
            <List.Item>
              {t.lastEnded(Math.max(0, a.accepted - later), a.total, a.refused, a.undecided, later)}
            </List.Item>
          </List>
        </Stack>
        <RevertButton
          what={whatOf(a)}
          outcome={outcomeOf(a)}
          replaced={[]}
          label={a.reverts ? t.forth : t.revert}
          onBack={onBack}
        />
      </Group>
    </Card>
  );
}

/** Who had assigned what robots had before, when and why. */
const replacedText = (
  t: ReturnType<typeof useAssignTexts>,
  r: NonNullable<One['groups'][number]['replaced']>,
): string => t.lastReplacedBy(r.by || t.fleetd, dateTime(r.at)) + (r.why ? ` – ${r.why}` : '');

/** Who gave a robot its story, and the way back of this robot. */
export function LastStory({ robot, revisions }: { robot: string; revisions: number }) {
  const t = useAssignTexts();
  const named = useNamed({ kind: 'back' });
  const list = useLast({ robot }, revisions);
  const a = list.data?.find((one) => one.kind === 'story');
  if (!a) return null;
  const group = a.groups.find((g) => g.robots.includes(robot));
  if (!group) return null;
  return (
    <Group gap="sm" data-testid="last-story">
      <Text size="sm">
        {(a.reverts ? t.lastRevertedBy : t.lastBy)(a.by || t.fleetd, dateTime(a.at))}
        {a.why && ` – ${a.why}`}; {t.lastBefore(named(givenText('story', group.before)))}
        {group.replaced && `, ${replacedText(t, group.replaced)}`}
      </Text>
      <RevertButton
        what={whatOf(a)}
        outcome={outcomeOf(a, robot)}
        replaced={[]}
        label={a.reverts ? t.forth : t.revert}
        onBack={() => void list.refetch()}
      />
      <Anchor component={Link} to={`/assign?${new URLSearchParams({ at: a.at })}`} size="sm">
        {t.lastShow(a.total)}
      </Anchor>
    </Group>
  );
}
