import { ActionIcon, Badge, Tooltip } from '@mantine/core';
import { IconBell } from '@tabler/icons-react';
import { useNavigate } from 'react-router';

import { unacknowledged, useAlerts } from '../live/alerts';
import { useAlertName } from '../live/AlertText';
import { useRobotsOfSite } from './scope';
import { useShellTexts } from './text';

/** At most this many robots with alerts are named at the bell. */
const named = 5;

/** ms until acknowledgements are read again: alerts themselves arrive at once. */
const every = 5000;

/** How many alerts of the chosen site nobody has acknowledged yet, with a link to them. */
export function AlertsBell() {
  const t = useShellTexts();
  const navigate = useNavigate();
  const name = useAlertName();
  const robots = useRobotsOfSite().filter((r) => r.alerts.length > 0);
  const all = robots.reduce((n, r) => n + r.alerts.length, 0);
  const list = useAlerts(every);
  const ofNoRobot = (list.data?.alerts ?? []).filter((a) => !a.robot && !a.acknowledged);
  const robotsWithUnacknowledged = unacknowledged(robots, list.data?.alerts ?? []);
  const count = robotsWithUnacknowledged.reduce((n, r) => n + r.alerts.length, ofNoRobot.length);
  const label = count > 0 ? t.alerts(count) : all > 0 ? t.allAcknowledged(all) : t.noAlerts;
  const lines = [
    ...ofNoRobot.map(name),
    ...robotsWithUnacknowledged.map((r) => `${r.id}: ${r.alerts.map(name).join(', ')}`),
  ].slice(0, named);
  return (
    <Tooltip label={[label, ...lines].join('\n')} multiline maw={360} style={{ whiteSpace: 'pre-line' }}>
      <ActionIcon
        variant="default"
        size={36}
        aria-label={label}
        pos="relative"
        className="bell"
        onClick={() => void navigate('/events')}
      >
        <IconBell size={20} aria-hidden />
        {count > 0 && (
          <Badge size="xs" circle={count < 10} color="red.8" pos="absolute" top={-6} right={-6}>
            {count}
          </Badge>
        )}
      </ActionIcon>
    </Tooltip>
  );
}
