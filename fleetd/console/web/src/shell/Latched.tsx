import { Alert, Badge, Button, Group, Modal, Stack, Text, TextInput, Tooltip } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconHandStop } from '@tabler/icons-react';
import { useState } from 'react';

import type { LatchedStop } from '../api/client';
import { useMay } from '../api/me';
import { problemOf } from '../api/problem';
import { useRobots } from '../live/robots';
import { useLive } from '../live/stream';
import { clock } from '../text/time';
import { heldBy, release } from './stopping';
import { useShellTexts } from './text';

/** Up to this many robots of a stop are named; more are counted. */
const named = 4;

/** The latched stops, on every screen, each with its release. */
export function Latched() {
  const t = useShellTexts();
  const fleetd = useLive((s) => s.fleetd);
  const [chosen, choose] = useState<LatchedStop>();
  if (!fleetd || (fleetd.latched.length === 0 && fleetd.latched_complete)) return null;
  return (
    <Alert
      color="red"
      variant="light"
      icon={<IconHandStop aria-hidden />}
      title={t.latched(fleetd.latched.length)}
      role="region"
      aria-label={t.latched(fleetd.latched.length)}
      data-testid="latched"
    >
      <Stack gap={6}>
        {fleetd.latched.map((stop) => (
          <Row key={stop.id} stop={stop} onRelease={() => choose(stop)} />
        ))}
        {!fleetd.latched_complete && <Text size="sm">{t.incomplete}</Text>}
      </Stack>
      {chosen && <Release stop={chosen} onClose={() => choose(undefined)} />}
    </Alert>
  );
}

function Row({ stop, onRelease }: { stop: LatchedStop; onRelease: () => void }) {
  const t = useShellTexts();
  const allowed = useMay('release');
  const held = heldBy(stop.id, useRobots()).sort();
  const whom = stop.all
    ? t.allRobots
    : stop.count <= named && held.length === stop.count
      ? held.join(', ')
      : t.robots(stop.count);
  const who =
    stop.client && stop.by && stop.by !== stop.client
      ? `${stop.by} (${stop.client})`
      : stop.by || stop.client || t.somebody;
  return (
    <Group gap="sm" wrap="wrap">
      <Text fw={600} size="sm">
        {whom}
      </Text>
      <Text size="sm" dir="auto">
        {t.latchedBy(who, clock(stop.since))}
        {stop.why ? `: ${stop.why}` : ''}
      </Text>
      {!stop.persisted && <Badge color="yellow">{t.notPersisted}</Badge>}
      <Tooltip label={t.releaseForbidden} disabled={allowed}>
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
      <Text size="xs" c="dimmed">
        {stop.id}
      </Text>
    </Group>
  );
}

function Release({ stop, onClose }: { stop: LatchedStop; onClose: () => void }) {
  const t = useShellTexts();
  const [why, setWhy] = useState('');
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState('');
  const submit = async () => {
    setBusy(true);
    try {
      await release([stop.id], why);
      notifications.show({ message: t.released, color: 'blue' });
      onClose();
    } catch (thrown) {
      setRefused(problemOf(thrown).message);
    }
    setBusy(false);
  };
  return (
    <Modal opened onClose={onClose} title={t.releaseTitle} closeButtonProps={{ 'aria-label': t.close }}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void submit();
        }}
      >
        <Stack>
          <Text size="sm">{t.releaseHelp}</Text>
          <Text size="sm" fw={600}>
            {stop.id}
          </Text>
          <TextInput
            label={t.releaseWhy}
            value={why}
            maxLength={256}
            required
            data-autofocus
            error={refused || undefined}
            onChange={(e) => setWhy(e.currentTarget.value)}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t.cancel}
            </Button>
            <Button type="submit" loading={busy} disabled={why.trim() === ''}>
              {t.releaseNow}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
