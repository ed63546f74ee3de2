import { Alert, Badge, Button, Group, Stack, Text, Tooltip } from '@mantine/core';
import { IconHandStop } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { useMatch } from 'react-router';

import type { LatchedStop } from '../api/client';
import { useMay } from '../api/me';
import { useRobot, useRobots } from '../live/robots';
import { fleetdNow, useLive } from '../live/stream';
import { useRightTexts } from '../text/rights';
import { clock } from '../text/time';
import { askRelease } from './askRelease';
import { useWhom } from './ReleaseDialog';
import { useRobotOfPage } from './scope';
import { meansOnly, offersRelease, stoppedBy, useReleasing } from './stopping';
import { useShellTexts } from './text';

const nothing = { id: '', count: 0 };

/** ms between two looks at how old the stops are. */
const look = 2000;

/**
 * A function that says whether the page of the robot that is open offers the release of a stop itself: a banner that
 * comes and goes would move its buttons under the pointer.
 */
function useOnItsPage(): (stop: LatchedStop) => boolean {
  const id = useRobotOfPage();
  const manual = useMatch('/robots/:id/manual');
  const robot = useRobot(id ?? '');
  const fleet = useRobots();
  const [now, setNow] = useState(fleetdNow);
  useEffect(() => {
    const timer = window.setInterval(() => setNow(fleetdNow()), look);
    return () => clearInterval(timer);
  }, []);
  const releasing = useReleasing((s) => s.ids);
  return (stop) => {
    if (manual || !robot) return false;
    // Between the press and the robots' reports the banner would come for a moment, and move the buttons twice.
    const over = releasing.includes(stop.id) && meansOnly(robot, stop, fleet);
    return over || offersRelease(robot, stop, fleet, now);
  };
}

/** The latched stops, on every screen, each with its release. */
export function Latched() {
  const t = useShellTexts();
  const fleetd = useLive((s) => s.fleetd);
  const onItsPage = useOnItsPage();
  const latched = (fleetd?.latched ?? []).filter((l) => !onItsPage(l));
  const whom = useWhom(latched[0] ?? nothing);
  const released = useReleasing((s) => s.ids);
  const one = latched.length === 1;
  const releasing = one && released.includes(latched[0]!.id);
  const title = releasing ? t.released(whom) : one ? t.latchedOne(whom) : t.latched(latched.length);
  if (!fleetd || (latched.length === 0 && fleetd.latched_complete)) return null;
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
        {latched.map((stop) => (
          <Row key={stop.id} stop={stop} named={!one} onRelease={() => askRelease({ stop })} />
        ))}
        {!fleetd.latched_complete && <Text size="sm">{t.incomplete}</Text>}
      </Stack>
    </Alert>
  );
}

/** One stop; its robots are named unless the title does so. */
function Row({ stop, named, onRelease }: { stop: LatchedStop; named: boolean; onRelease: () => void }) {
  const t = useShellTexts();
  const { lacks } = useRightTexts();
  const allowed = useMay('release_stops');
  const whom = useWhom(stop);
  const releasing = useReleasing((s) => s.ids.includes(stop.id));
  return (
    <Group gap="sm" wrap="nowrap">
      <Text size="sm" dir="auto" className="any-text">
        {named && (
          <>
            <b>{whom}</b>
            {' – '}
          </>
        )}
        {t.latchedBy(stoppedBy(stop) || t.somebody, clock(stop.since))}
        {stop.why ? `: ${stop.why}` : ''}
      </Text>
      {!stop.persisted && (
        <Badge color="yellow" miw="max-content">
          {t.notPersisted}
        </Badge>
      )}
      {releasing ? (
        <Badge color="blue" miw="max-content">
          {t.releasing}
        </Badge>
      ) : (
        <Tooltip label={lacks(t.releaseStops, 'release_stops')} disabled={allowed}>
          <Button
            size="compact-sm"
            miw="max-content"
            variant="default"
            data-disabled={!allowed || undefined}
            aria-disabled={!allowed}
            onClick={() => allowed && onRelease()}
          >
            {t.release}
          </Button>
        </Tooltip>
      )}
      <Text size="xs" c="dimmed" visibleFrom="sm" miw="max-content">
        {stop.id}
      </Text>
    </Group>
  );
}
