import { Anchor, Button, Card, Group, Stack, Text, Title } from '@mantine/core';
import { IconMap2 } from '@tabler/icons-react';
import { type CSSProperties, memo, useEffect, useMemo, useRef, useState } from 'react';
import { Link } from 'react-router';

import type { Robot } from '../../api/client';
import { eachBeat } from '../../live/beats';
import { useNameOf } from '../../live/entries';
import { performing, type Tone } from '../../live/performing';
import { PerformingBadge, toneColor, useAbout } from '../../live/PerformingBadge';
import { PlayedRobot } from '../../live/PlayedRobot';
import { RobotName } from '../../live/RobotName';
import { fleetdNow } from '../../live/stream';
import { type Acting, useActing } from '../../live/timeline';
import { useSchedules } from '../schedules/api';
import { useActionText } from '../schedules/words';
import { nextSchedule, type Queued } from './coming';
import { lookFirst } from './first';
import { FloorPlan } from './FloorPlan';
import { byMap, bySite, isPlaced, maxDrawn, maxOnPlan, type SiteGroup, turnOf } from './stage';
import css from './Stage.module.css';
import { useStageTexts } from './stageText';
import { useQueues } from './useQueues';
import { useWhen } from './useWhen';

/** Who plays what, by site. Robots that need a person stand above it; a large fleet is counted by what it does. */
export function Stage({ fleet }: { fleet: readonly Robot[] }) {
  const t = useStageTexts();
  const groups = useMemo(() => bySite(fleet), [fleet]);
  const troubled = useMemo(() => new Set(lookFirst(fleet).map((r) => r.id)), [fleet]);
  const draws = fleet.length - troubled.size <= maxDrawn;
  const queues = useQueues(draws);
  if (fleet.length === 0) return null;
  return (
    <section className={css.sites} aria-label={t.stage} style={turnOf(fleet.length)}>
      {groups.map((g) => (
        <Site key={g.site} group={g} only={groups.length === 1} draws={draws} troubled={troubled} queues={queues} />
      ))}
    </section>
  );
}

interface SiteProps {
  group: SiteGroup;
  only: boolean;
  draws: boolean;
  troubled: ReadonlySet<string>;
  /** The rollouts that each robot waits for. */
  queues: ReadonlyMap<string, readonly Queued[]>;
}

function Site({ group: g, only, draws, troubled, queues }: SiteProps) {
  const t = useStageTexts();
  const [plan, setPlan] = useState(false);
  const placed = useMemo(() => g.robots.some(isPlaced), [g]);
  const maps = useMemo(() => (plan ? byMap(g.robots) : []), [g, plan]);
  const well = g.robots.filter((r) => !troubled.has(r.id));
  return (
    <div data-testid="site" className={css.site} style={{ '--wide': Math.min(well.length, 4) } as CSSProperties}>
      <Group justify="space-between" align="flex-start" mb="xs" gap="xs" wrap="nowrap">
        <Group gap="0 var(--mantine-spacing-sm)" align="baseline">
          <Title order={2} size="h4" dir="auto">
            {g.site || (only ? t.stage : t.noSite)}
          </Title>
          <ToneLine tones={g.tones} total={g.robots.length} site={g.site} />
        </Group>
        {placed && (
          <Button
            size="compact-sm"
            variant="subtle"
            flex="none"
            leftSection={<IconMap2 size={16} aria-hidden />}
            aria-expanded={plan}
            onClick={() => setPlan(!plan)}
          >
            {plan ? t.hidePlan : t.plan}
          </Button>
        )}
      </Group>
      {plan && (
        <Stack gap="xs" mb="md">
          {maps.length > 1 && <Text size="sm">{t.planSeveral(maps.length)}</Text>}
          {maps.map(([map, robots]) => (
            <div key={map}>
              <FloorPlan site={g.site} robots={robots.slice(0, maxOnPlan)} />
              {robots.length > maxOnPlan && <Text size="sm">{t.moreOfSite(robots.length - maxOnPlan)}</Text>}
            </div>
          ))}
        </Stack>
      )}
      {draws && (
        <div className={css.cards}>
          {well.map((r) => (
            <RobotCard key={r.id} r={r} queue={queues.get(r.id)} />
          ))}
        </div>
      )}
    </div>
  );
}

const order: Tone[] = ['stopped', 'attention', 'away', 'waiting', 'good'];

/** How many robots do what; without zeros, and in one sentence if all perform. */
export function ToneLine({ tones, total, site }: { tones: Record<Tone, number>; total: number; site?: string }) {
  const t = useStageTexts();
  if (tones.good === total)
    return (
      <Anchor component={Link} to="/robots?tone=good" size="sm" c="dimmed" data-testid="tone-good">
        {t.allPerform(total)}
      </Anchor>
    );
  return (
    <Group gap="sm">
      {order
        .filter((tone) => tones[tone] > 0)
        .map((tone) => (
          <Anchor
            key={tone}
            component={Link}
            to={`/robots?tone=${tone}${site ? `&site=${encodeURIComponent(site)}` : ''}`}
            size="sm"
            c="inherit"
            data-testid={site === undefined ? `tone-${tone}` : undefined}
          >
            <span className={css.dot} style={{ background: `var(--mantine-color-${toneColor[tone]}-6)` }} aria-hidden />
            {t.tone[tone](tones[tone])}
          </Anchor>
        ))}
    </Group>
  );
}

const none: readonly Queued[] = [];

/** One robot: its picture, its name, what it plays, how far it is, and what follows. */
const RobotCard = memo(function RobotCard({ r, queue = none }: { r: Robot; queue?: readonly Queued[] }) {
  const t = useStageTexts();
  const about = useAbout();
  const [story, act, activity] = [useNameOf('story'), useNameOf('act'), useNameOf('activity')];
  const acting = useActing(r);
  const p = performing(r);
  const named = r.story && story(r.story.id);
  const said = about(p.of);
  const next = r.life?.next ? t.nextActivity(activity(r.life.next)) : acting.next && t.nextAct(act(acting.next.act));
  return (
    <Card withBorder p="sm" className={css.card} data-testid="card">
      <div className={css.picture}>
        <PlayedRobot robot={r} acting={acting} />
      </div>
      <Stack gap={4} miw={0} flex={1}>
        <RobotName id={r.id} link size="md" />
        {r.story && (
          <Text size="sm" dir="auto" truncate>
            {named}
          </Text>
        )}
        {p.key === 'performing' && r.act ? (
          <>
            <Text size="sm" dir="auto" lineClamp={2}>
              {act(r.act)}
              {acting.of > 0 && (
                <Text span size="xs" c="dimmed" ms={6} className="one-line">
                  {t.act((r.act_index ?? 0) + 1, acting.of)}
                </Text>
              )}
            </Text>
            <ActBar r={r} acting={acting} />
          </>
        ) : (
          <>
            <div>
              <PerformingBadge robot={r} of={p} />
            </div>
            {said && said !== named && (
              <Text size="sm" c="dimmed" dir="auto" lineClamp={2}>
                {said}
              </Text>
            )}
          </>
        )}
        {next && (
          <Text size="xs" c="dimmed" dir="auto" truncate>
            {next}
          </Text>
        )}
        <Coming r={r} queue={queue} />
      </Stack>
    </Card>
  );
});

/** What the next schedule of a robot does, and when. */
export function Scheduled({ r, fz }: { r: Robot; fz: string | number }) {
  const when = useWhen();
  const actionText = useActionText();
  const schedule = nextSchedule(useSchedules().data ?? [], r);
  return (
    schedule && (
      <Text fz={fz} c="dimmed" dir="auto" truncate data-testid="scheduled">
        {when(schedule.next_at!)} {actionText(schedule.action)}
      </Text>
    )
  );
}

/** What comes to a robot, and when: the rollouts that it waits for, in their order, and its next schedule. */
function Coming({ r, queue }: { r: Robot; queue: readonly Queued[] }) {
  const t = useStageTexts();
  const when = useWhen();
  const [first, ...others] = queue;
  const ahead = first?.at && Date.parse(first.at) > fleetdNow();
  return (
    <>
      {first && (
        <Anchor
          component={Link}
          to={`/rollouts/${encodeURIComponent(first.id)}`}
          size="xs"
          c="dimmed"
          dir="auto"
          truncate
          data-testid="queue"
        >
          {first.underway ? t.getsNow(first.name) : t.getsNext(first.name, ahead ? when(first.at!) : '')}
          {others.length > 0 && ` ${t.getsMore(others.length)}`}
        </Anchor>
      )}
      <Scheduled r={r} fz="xs" />
    </>
  );
}

/** How far the act is; it moves once a second. */
function ActBar({ r, acting: { ms, span } }: { r: Robot; acting: Acting }) {
  const bar = useRef<HTMLDivElement>(null);
  const length = span && Math.max(span.end_ms - span.start_ms, 1);
  const runs = r.auto === 'idle';
  useEffect(() => {
    if (!bar.current || !length || ms === undefined) return;
    const { style } = bar.current;
    const began = performance.now() - ms;
    const move = () => (style.transform = `scaleX(${Math.min(1, (performance.now() - began) / length)})`);
    move();
    return runs ? eachBeat(move, 10) : undefined;
  }, [r.act_index, r.act_began, length, runs]);
  return (
    <div className={css.track} aria-hidden>
      {length && ms !== undefined && <div ref={bar} className={css.bar} />}
    </div>
  );
}
