import { Badge, Text, Tooltip } from '@mantine/core';
import { IconAlertTriangle, IconClock, IconHandStop, IconPlayerPlay, IconPlugConnectedX } from '@tabler/icons-react';

import type { Robot } from '../api/client';
import { texts } from '../text/language';
import { performing, type Performing, type Tone } from './performing';

export const usePerformingTexts = texts(
  {
    performing: 'performing',
    activity: 'performing an activity',
    interrupt: 'reacting to something',
    paused: 'paused',
    pausedBySafety: 'paused: may not move',
    storyEnded: 'story over: waiting for a start',
    noStory: 'has no story',
    manual: 'in manual control',
    startUp: 'starting up',
    safeMode: 'in safe mode after a fault',
    otherMode: 'in another mode',
    switching: 'changing its mode',
    disabled: 'waiting to be enabled',
    waitingForRelease: 'stopped: waiting for release',
    needsReset: 'stopped: needs a reset',
    stopInput: 'stop input pressed at the robot',
    braking: 'stopping',
    clearing: 'clearing faults',
    notReported: 'has not reported yet',
    notConnected: 'not connected',
    asleep: 'asleep',
    notAdopted: 'not part of the fleet yet',
  },
  {
    performing: 'tritt auf',
    activity: 'führt eine Aktivität auf',
    interrupt: 'reagiert auf etwas',
    paused: 'Pause',
    pausedBySafety: 'Pause: darf sich nicht bewegen',
    storyEnded: 'Geschichte vorbei: wartet auf Start',
    noStory: 'hat keine Geschichte',
    manual: 'in Handsteuerung',
    startUp: 'fährt hoch',
    safeMode: 'nach einer Störung im sicheren Modus',
    otherMode: 'in einem anderen Modus',
    switching: 'wechselt den Modus',
    disabled: 'wartet auf Freigabe der Bewegung',
    waitingForRelease: 'gestoppt: wartet auf Freigabe',
    needsReset: 'gestoppt: braucht ein Zurücksetzen',
    stopInput: 'Stopp-Eingang am Roboter gedrückt',
    braking: 'hält an',
    clearing: 'löscht Fehler',
    notReported: 'hat noch nichts gemeldet',
    notConnected: 'nicht verbunden',
    asleep: 'schläft',
    notAdopted: 'gehört noch nicht zur Flotte',
  },
);

export const toneColor: Record<Tone, string> = {
  good: 'green',
  waiting: 'blue',
  attention: 'yellow',
  stopped: 'red',
  away: 'gray',
};

const icons: Record<Tone, typeof IconClock> = {
  good: IconPlayerPlay,
  waiting: IconClock,
  attention: IconAlertTriangle,
  stopped: IconHandStop,
  away: IconPlugConnectedX,
};

/** What a robot does, in words and with a symbol: colour alone says nothing. */
export function PerformingBadge({ robot, of: given, terms }: { robot: Robot; of?: Performing; terms?: boolean }) {
  const t = usePerformingTexts();
  const p = given ?? performing(robot);
  const Icon = icons[p.tone];
  return (
    <Tooltip label={p.term} openDelay={300}>
      <span>
        <Badge
          color={toneColor[p.tone]}
          variant="light"
          leftSection={<Icon size={12} aria-hidden />}
          tt="none"
          fw={600}
        >
          {t[p.key]}
        </Badge>
        {terms && (
          <Text span size="xs" c="dimmed" ml={6}>
            {p.term}
          </Text>
        )}
      </span>
    </Tooltip>
  );
}
