import { Alert, Badge, Button, Group, Stack, Text, Tooltip } from '@mantine/core';
import { IconHandStop } from '@tabler/icons-react';

import type { LatchedStop } from '../api/client';
import { useMay } from '../api/me';
import { useLive } from '../live/stream';
import { useRightTexts } from '../text/rights';
import { clock } from '../text/time';
import { askRelease } from './askRelease';
import { useWhom } from './ReleaseDialog';
import { stoppedBy, useReleasing } from './stopping';
import { useShellTexts } from './text';

const nothing = { id: '', count: 0 };

/** The latched stops, on every screen, each with its release. */
export function Latched() {
  const t = useShellTexts();
  const fleetd = useLive((s) => s.fleetd);
  const latched = fleetd?.latched ?? [];
  const whom = useWhom(latched[0] ?? nothing);
  const released = useReleasing((s) => s.ids);
  const one = latched.length === 1;
  const releasing = one && released.includes(latched[0]!.id);
  const title = releasing ? t.released(whom) : one ? t.latchedOne(whom) : t.latched(latched.length);
  if (!fleetd || (fleetd.latched.length === 0 && fleetd.latched_complete)) return null;
  return (
    <Alert
      color={releasing ? 'blue' : 'red'}
      variant="light"
      icon={<IconHandStop aria-hidden />}
      title={title}
      role="region"
      aria-label={title}
      data-testid="latched"
    >
      <Stack gap={6}>
        {fleetd.latched.map((stop) => (
          <Row key={stop.id} stop={stop} onRelease={() => askRelease({ stop })} />
        ))}
        {!fleetd.latched_complete && <Text size="sm">{t.incomplete}</Text>}
      </Stack>
    </Alert>
  );
}

function Row({ stop, onRelease }: { stop: LatchedStop; onRelease: () => void }) {
  const t = useShellTexts();
  const { lacks } = useRightTexts();
  const allowed = useMay('release_stops');
  const whom = useWhom(stop);
  const releasing = useReleasing((s) => s.ids.includes(stop.id));
  return (
    <Group gap="sm" wrap="wrap">
      <Text fw={600} size="sm">
        {whom}
      </Text>
      <Text size="sm" dir="auto">
        {t.latchedBy(stoppedBy(stop) || t.somebody, clock(stop.since))}
        {stop.why ? `: ${stop.why}` : ''}
      </Text>
      {!stop.persisted && <Badge color="yellow">{t.notPersisted}</Badge>}
      {releasing ? (
        <Badge color="blue">{t.releasing}</Badge>
      ) : (
        <Tooltip label={lacks(t.releaseStops, 'release_stops')} disabled={allowed}>
          <Button
            size="compact-sm"
            variant="default"
            data-disabled={!allowed || undefined}
            aria-disabled={!allowed}
            onClick={() => allowed && onRelease()}
          >
            {t.release}
          </Button>
        </Tooltip>
      )}
      <Text size="xs" c="dimmed" visibleFrom="sm">
        {stop.id}
      </Text>
    </Group>
  );
}
