import { Badge, Button, Group, Text } from '@mantine/core';

import type { RobotState, State } from './types';
import classes from './rollouts.module.css';
import { type Counts, type Part, segments, stateColor } from './states';
import { useRolloutsTexts } from './text';

/** Robots of a rollout or of a wave by what they have, in words for those who do not see the bar. */
export function RobotBar({ counts, total, small }: { counts: Counts; total: number; small?: boolean }) {
  const t = useRolloutsTexts();
  const all = segments(counts);
  const words = all.map((s) => `${s.count} ${t.parts[s.part]}`).join(', ');
  return (
    <div className={classes.bar} data-small={small || undefined} role="img" aria-label={t.bar(words)} title={words}>
      {all.map((s) => (
        <div
          key={s.part}
          className={`${classes.part} ${classes[s.part]}`}
          data-part-of-bar={s.part}
          style={{ flexGrow: s.count, flexBasis: 0 }}
        >
          {!small && s.count / (total || 1) > 0.06 && <span className={classes.number}>{s.count}</span>}
        </div>
      ))}
    </div>
  );
}

/** The mark of a part in the legend of bars. */
export const Swatch = ({ part }: { part: Part }) => (
  <span className={`${classes.swatch} ${classes[part]}`} aria-hidden />
);

export function StateBadge({ of }: { of: State }) {
  const t = useRolloutsTexts();
  return (
    <Badge
      variant="light"
      color={stateColor[of]}
      tt="none"
      miw="max-content"
      data-testid="rollout-state"
      data-state={of}
    >
      {t.states[of]}
    </Badge>
  );
}

interface LegendProps {
  counts: Counts;
  chosen?: RobotState;
  onChoose: (state: RobotState | undefined) => void;
}

/** What the parts of the bars mean. A state that is pressed narrows the table of robots to it. */
export function Legend({ counts, chosen, onChoose }: LegendProps) {
  const t = useRolloutsTexts();
  return (
    <Group gap="xs" role="group" aria-label={t.legend}>
      {segments(counts).flatMap((s) =>
        s.states.map(([state, n]) => (
          <Button
            key={state}
            size="compact-sm"
            variant={chosen === state ? 'filled' : 'default'}
            aria-pressed={chosen === state}
            className="long-button"
            leftSection={<Swatch part={s.part} />}
            onClick={() => onChoose(chosen === state ? undefined : state)}
          >
            {t.robotStates[state]}: {n}
          </Button>
        )),
      )}
      {chosen && (
        <Button size="compact-sm" variant="subtle" onClick={() => onChoose(undefined)}>
          {t.all}
        </Button>
      )}
      {segments(counts).length === 0 && <Text size="sm">–</Text>}
    </Group>
  );
}
