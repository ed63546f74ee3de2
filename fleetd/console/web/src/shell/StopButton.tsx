import { Button, Text, Tooltip } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconHandStop } from '@tabler/icons-react';
import { useRef, useState } from 'react';

import { lineOf } from '../api/lines';
import { useMay } from '../api/me';
import { problemOf } from '../api/problem';
import { useRobots } from '../live/robots';
import { CommandHint } from './CommandLine';
import { useRobotOfPage, useScope } from './scope';
import { stop, stopRequest, type Whom } from './stopping';
import { useShellTexts } from './text';

/** ms for which the stop of several robots is held. */
const hold = 1000;

/**
 * The software stop, at the same place on every screen. On the page of a robot it stops
 * that robot at once; elsewhere it is held for a second, by pointer or key.
 */
export function StopButton() {
  const t = useShellTexts();
  const robot = useRobotOfPage();
  const site = useScope((s) => s.site);
  const fleet = useRobots();
  const allowed = useMay('stop');
  const timer = useRef<number>(undefined);
  const [holding, setHolding] = useState(false);

  const whom: Whom = robot ? { robot } : site ? { site } : 'all';
  const label = robot
    ? t.stopOne(robot)
    : site
      ? t.stopSite(site, fleet.filter((r) => r.labels.site === site).length)
      : t.stopAll(fleet.length);

  const send = async () => {
    setHolding(false);
    try {
      const batch = await stop(whom);
      notifications.show({ color: 'red', title: t.stopSent(batch.total), message: batch.latch, autoClose: 8000 });
    } catch (thrown) {
      const p = problemOf(thrown);
      notifications.show({
        color: 'red',
        title: t.stopFailed,
        message: `${p.message}. ${t.stopFailedHelp}`,
        autoClose: false,
      });
    }
  };
  const begin = () => {
    if (robot || timer.current) return;
    setHolding(true);
    timer.current = window.setTimeout(() => {
      timer.current = undefined;
      void send();
    }, hold);
  };
  const end = () => {
    clearTimeout(timer.current);
    timer.current = undefined;
    setHolding(false);
  };
  const isKey = (key: string) => key === ' ' || key === 'Enter';

  return (
    <Tooltip
      multiline
      maw={420}
      label={
        allowed ? (
          <>
            {t.stopHelp}
            <br />
            <CommandHint line={lineOf('stop', stopRequest(whom))} />
          </>
        ) : (
          t.stopForbidden
        )
      }
    >
      <Button
        id="software-stop"
        className="hold"
        data-holding={holding || undefined}
        color="red.9"
        h={48}
        px="sm"
        aria-disabled={!allowed}
        data-disabled={!allowed || undefined}
        leftSection={<IconHandStop size={22} aria-hidden />}
        onClick={() => allowed && robot && void send()}
        onPointerDown={() => allowed && begin()}
        onPointerUp={end}
        onPointerLeave={end}
        onPointerCancel={end}
        onBlur={end}
        onContextMenu={(e) => e.preventDefault()}
        onKeyDown={(e) => allowed && isKey(e.key) && !e.repeat && begin()}
        onKeyUp={(e) => isKey(e.key) && end()}
      >
        <span className="hold-fill" />
        <span>
          <Text span fw={700} size="sm" display="block" lh={1.2}>
            {t.stop}
          </Text>
          <Text span size="xs" display="block" lh={1.2}>
            {label}
          </Text>
        </span>
      </Button>
    </Tooltip>
  );
}
