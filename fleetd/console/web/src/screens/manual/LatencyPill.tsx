import { Badge, Tooltip } from '@mantine/core';
import { IconAlertTriangle, IconWifi } from '@tabler/icons-react';

import { useDriving } from './drive';
import { warnAt, zeroAt } from './latency';
import { useManualTexts } from './text';

/** The latency of driving, in words beside its colour. */
export function LatencyPill() {
  const t = useManualTexts();
  const ms = useDriving((s) => Math.round(s.latency));
  const connected = useDriving((s) => s.connected);
  const heard = useDriving((s) => s.figures !== undefined);
  const slow = ms > warnAt || !connected;
  const words = !connected
    ? t.reconnecting
    : !heard
      ? t.latencyNone
      : t.latency(ms) + (ms > zeroAt ? `, ${t.latencyStop}` : ms > warnAt ? `, ${t.latencySlow}` : '');
  return (
    <Tooltip label={t.latencyHelp}>
      <Badge
        size="lg"
        h={32}
        tt="none"
        tabIndex={0}
        variant="light"
        color={!connected || ms > zeroAt ? 'red' : slow ? 'yellow' : 'green'}
        leftSection={slow ? <IconAlertTriangle size={16} aria-hidden /> : <IconWifi size={16} aria-hidden />}
        data-testid="latency"
      >
        {words}
      </Badge>
    </Tooltip>
  );
}
