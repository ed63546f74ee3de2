import { Badge, Card, Group, Stack, Text, Title } from '@mantine/core';

import { dateTime } from '../../text/time';
import { useFleetdNow } from '../robot/page';

import type { Detail, Wave as WaveOf } from './types';
import { useGateText } from './gate';
import { RobotBar } from './RobotBar';
import { gateCount, lengthOf, waveColor } from './states';
import { useRolloutsTexts } from './text';
import { useWhyText } from './whyText';

/** The waves of a rollout as bars, with what each has to show and how long it is still watched. */
export function Waves({ of: d }: { of: Detail }) {
  const t = useRolloutsTexts();
  return (
    <Card withBorder component="section" aria-label={t.waves}>
      <Stack gap="md">
        <Title order={2} size="h4">
          {t.waves}
        </Title>
        {d.waves.map((w) => (
          <Wave key={w.number} of={w} single={d.waves.length === 1} />
        ))}
      </Stack>
    </Card>
  );
}

function Wave({ of: w, single }: { of: WaveOf; single: boolean }) {
  const t = useRolloutsTexts();
  const now = useFleetdNow();
  const gate = useGateText();
  const because = useWhyText();
  const { done, needed } = gateCount(w);
  // It is no verdict on the wave that a person ended the rollout first.
  const cutOff = w.state === 'INCONCLUSIVE' && w.why === 'the rollout ended before it was decided';
  const left = w.soak_until ? (Date.parse(w.soak_until) - now) / 1000 : 0;
  const says = [
    !cutOff && because(w.why),
    w.state === 'RUNNING' && !single && t.gateDone(done, needed),
    w.state === 'SOAKING' && (left > 0 ? t.soakLeft(lengthOf(left, t.units)) : t.soakOver),
  ].filter(Boolean);
  return (
    <Stack gap={4} data-testid="wave" data-state={w.state}>
      <Group gap="xs">
        <Text size="sm" fw={500} dir="auto">
          {w.number + 1}. {w.name || t.wave}
        </Text>
        <Badge variant="light" color={cutOff ? 'gray' : waveColor[w.state]} tt="none">
          {cutOff ? t.waveCutOff : t.waveStates[w.state]}
        </Badge>
        <Text size="sm" c="dimmed">
          {t.robotsN(w.total)}
        </Text>
        <Text size="xs" c="dimmed" ms="auto">
          {w.ended_at ? t.ended(dateTime(w.ended_at)) : w.started_at ? t.began(dateTime(w.started_at)) : ''}
        </Text>
      </Group>
      <RobotBar counts={w.counts} total={w.total} />
      {says.length > 0 && (
        <Text size="sm" dir="auto" className="any-text">
          {says.join('; ')}
        </Text>
      )}
      <Text size="xs" c="dimmed">
        {gate(w.gate, single)}
      </Text>
    </Stack>
  );
}
