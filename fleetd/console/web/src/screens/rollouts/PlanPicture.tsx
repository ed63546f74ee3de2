import { Alert, Group, List, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconFlag } from '@tabler/icons-react';

import { refusalText } from '../assign/refusal';
import { useAssignTexts } from '../assign/text';
import { useFieldWord } from '../editor/fields/words';
import { useWhen } from '../overview/useWhen';
import type { Plan } from './types';
import { RobotLinks } from './Failures';
import { useGateText } from './gate';
import { usePlanTexts } from './planText';
import { Swatch } from './RobotBar';
import classes from './rollouts.module.css';
import { groupsBy, stairs } from './states';

/** Up to this many robots of a reason are named. */
const named = 8;

/** A plan before it starts: its waves as stairs, who would refuse it and why, and when it would be done. */
export function PlanPicture({ of: p }: { of: Plan }) {
  const t = usePlanTexts();
  const { more } = useAssignTexts();
  const gate = useGateText();
  const when = useWhen(true);
  const steps = stairs(p.waves);
  const some = (s: Plan['unchanged'], says: (n: number) => string) =>
    s.count > 0 && (
      <List.Item>
        {says(s.count)} ({s.robots.join(', ')}
        {s.count > s.robots.length && `, ${more(s.count - s.robots.length)}`})
      </List.Item>
    );
  return (
    <Stack gap="sm" data-testid="plan">
      <Text fw={500}>{t.planOf(p.total, p.waves.filter((w) => w.total > 0).length)}</Text>
      <ol className={classes.stairs}>
        {p.waves.map((w, n) => (
          <li key={w.number}>
            <Group gap="xs">
              <Text size="sm" fw={500} dir="auto">
                {w.number + 1}. {w.name || t.wave(w.number + 1)}
              </Text>
              <Text size="sm">{t.waveRobots(w.total)}</Text>
              {w.robots.length > 0 && (
                <Text size="xs" c="dimmed" className="any-text">
                  {w.robots.length < w.total ? t.first(w.robots.join(', ')) : w.robots.join(', ')}
                </Text>
              )}
            </Group>
            {w.total > 0 && (
              <>
                <div className={classes.stair} role="img" aria-label={t.picture(w.name, w.total, w.refused)}>
                  <div className={classes.earlier} style={{ width: `${steps[n]!.before}%` }} />
                  {w.total > w.refused && <div className={classes.here} style={{ width: `${steps[n]!.here}%` }} />}
                  {w.refused > 0 && <div className={classes.failed} style={{ width: `${steps[n]!.refused}%` }} />}
                </div>
                <Text size="xs" c="dimmed">
                  {gate(w.gate, p.waves.length === 1)}
                </Text>
              </>
            )}
          </li>
        ))}
      </ol>
      <Group gap="xs">
        <IconFlag size={18} aria-hidden />
        <Text size="sm" fw={500}>
          {p.expected_end ? t.ends(when(p.expected_end)) : t.endsNever}
        </Text>
      </Group>
      {p.needs_approval && <Alert color="yellow" title={t.approval} p="xs" />}
      {p.refused_total > 0 && (
        <Robots
          title={`${t.wouldRefuse(p.refused_total)} (${p.spec.refused === 'offer' ? t.offeredAll : t.leftOut})`}
          rows={p.refused}
          refuse
        />
      )}
      {p.warnings_total > 0 && <Robots title={t.wouldLeave(p.warnings_total)} rows={p.warnings} />}
      <List size="sm">
        {some(p.unchanged, t.unchanged)}
        {some(p.pinned, t.pins)}
        {some(p.offline, t.away)}
        {p.superseding.map((s) => (
          <List.Item key={s.rollout}>{t.superseding(s.robots, s.name)}</List.Item>
        ))}
      </List>
    </Stack>
  );
}

/** Robots that would not take all of the content, by reason. */
function Robots({ title, rows, refuse }: { title: string; rows: Plan['refused']; refuse?: boolean }) {
  const t = usePlanTexts();
  const { more, actionNumber } = useAssignTexts();
  const word = useFieldWord();
  return (
    <Stack gap={6} data-testid={refuse ? 'refused' : 'warned'}>
      <Group gap="xs" wrap="nowrap" align="flex-start">
        {refuse ? <Swatch part="failed" /> : <IconAlertTriangle size={18} className="in-text" aria-hidden />}
        <Text size="sm" fw={500}>
          {title}
        </Text>
      </Group>
      {groupsBy(rows, (r) => `${r.reason}: ${r.detail}`).map(([why, of]) => (
        <Stack key={why} gap={2} ps="md">
          <Text size="sm" dir="auto" className="any-text">
            {refusalText(why, word, actionNumber)}
          </Text>
          <Group gap="xs">
            <RobotLinks ids={of.slice(0, named).map((r) => r.robot)} />
            <Text size="xs" c="dimmed">
              {[
                of.length > named && more(of.length - named),
                wavesOf(of)
                  .map((n) => t.inWave(n + 1))
                  .join(', '),
              ]
                .filter(Boolean)
                .join('; ')}
            </Text>
          </Group>
        </Stack>
      ))}
    </Stack>
  );
}

const wavesOf = (rows: Plan['refused']): number[] => [...new Set(rows.map((r) => r.wave))].sort((a, b) => a - b);
