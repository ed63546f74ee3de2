import { Button, RemoveScroll, Text, Tooltip } from '@mantine/core';
import { IconHandStop } from '@tabler/icons-react';
import { type SyntheticEvent, useEffect, useRef } from 'react';

import { useMayStop } from '../api/me';
import { useRobots } from '../live/robots';
import { HoldNote, useHold } from './holding';
import { useRobotToStop, useScope, useWhomToStop } from './scope';
import { sendStop } from './sendStop';
import { stopRequest } from './stopping';
import { useTabToStop } from './tabToStop';
import { useShellTexts } from './text';

/** ms of hovering after which the help is shown, and what shows it: a finger presses instead. */
const hintDelay = 1000;
const hintEvents = { hover: true, focus: true, touch: false };

/** Pressing the stop is no click outside of an open menu or dialog. */
const keep = (e: SyntheticEvent) => e.stopPropagation();

/**
 * The software stop, at the same place on every screen and above every dialog. On the page of a
 * robot it stops that robot at once; elsewhere it is held for a second, by pointer or key.
 */
export function StopButton() {
  const t = useShellTexts();
  const robot = useRobotToStop();
  const site = useScope((s) => s.site);
  const fleet = useRobots();
  const allowed = useMayStop();
  const place = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useTabToStop(button);
  // The header leaves room for it.
  useEffect(() => {
    const { style } = document.documentElement;
    const observer = new ResizeObserver(() =>
      style.setProperty('--stop-width', `${place.current?.offsetWidth ?? 0}px`),
    );
    observer.observe(place.current!);
    return () => observer.disconnect();
  }, []);

  const whom = useWhomToStop();
  const meant = robot ? [robot] : fleet.filter((r) => !site || r.labels.site === site).map((r) => r.id);
  const label = robot ? t.stopOne(robot) : site ? t.stopSite(site, meant.length) : t.stopAll(meant.length);

  const send = () => sendStop(stopRequest(whom).body, meant);
  const held = useHold(allowed && !robot, send);

  return (
    <div
      ref={place}
      className={`stop-place ${RemoveScroll.classNames.zeroRight}`}
      onMouseDown={keep}
      onTouchStart={keep}
    >
      <Tooltip
        multiline
        maw={420}
        openDelay={allowed ? hintDelay : 0}
        events={allowed ? hintEvents : undefined}
        label={allowed ? t.stopHelp : t.stopForbidden}
      >
        <Button
          ref={button}
          id="software-stop"
          {...held.button}
          color="red.9"
          h={48}
          px="sm"
          aria-disabled={!allowed}
          data-disabled={!allowed || undefined}
          leftSection={<IconHandStop size={22} aria-hidden />}
          onClick={() => allowed && robot && void send()}
        >
          <span className="hold-fill" />
          <span>
            <Text span fw={600} size="sm" display="block" lh={1.2}>
              {t.stop}
            </Text>
            <Text span size="xs" display="block" lh={1.2}>
              {label}
            </Text>
          </span>
        </Button>
      </Tooltip>
      <HoldNote at="beside" text={held.early ? t.stopEarly(site, meant.length) : ''} />
    </div>
  );
}
