import { notifications } from '@mantine/notifications';
import { createElement } from 'react';

import type { Batch, Schemas } from '../api/client';
import { problemOf } from '../api/problem';
import { robots } from '../live/robots';
import { fleetdNow } from '../live/stream';
import { clock } from '../text/time';
import { SendAgain } from './SendAgain';
import { stands } from './stopping';
import { stop } from './stopWays';
import { useShellTexts } from './text';
import { makeRoom, toast } from './toast';

/** Up to this many robots are listed by name. */
const listed = 4;
/** ms within which a robot that the stop reaches reports that it stands. */
const standing = 8000;
/** ms for which a robot that was late may still report it. */
const lateFor = 600_000;

/** ms without an answer after which people are told to stop the robots another way. */
export const tellAfter = 2000;
let sent = 0;

/**
 * Stops robots, and says what became of that: at once that the stop is being sent, and soon that it has no answer.
 * Without `meant` they are the robots to which fleetd sent the stop.
 */
export async function sendStop(body: Schemas['LatchStopRequest'], meant: readonly string[]): Promise<void> {
  const t = useShellTexts.now();
  const id = `sending ${++sent}`;
  let sentAgain = false;
  const again = () => {
    sentAgain = true;
    notifications.hide(id);
    void sendStop(body, meant);
  };
  const failed = (title: string, text: string) => {
    if (sentAgain) return;
    const message = createElement(SendAgain, { text, label: t.sendAgain, again });
    toast({ id, color: 'red', loading: false, autoClose: false, title, message }, meant);
  };
  makeRoom();
  toast({ id, color: 'red', loading: true, autoClose: false, title: t.stopSending(few(meant)), message: '' }, meant);
  const late = setTimeout(() => failed(t.stopNotSent, t.stopNotSentHelp), tellAfter);
  try {
    noteStop(await stop(body), meant, id);
  } catch (thrown) {
    failed(t.stopFailed, `${problemOf(thrown).message}. ${t.stopFailedHelp}`);
  } finally {
    clearTimeout(late);
  }
}

/**
 * Says which robots fleetd has accepted a stop for, and then that they report that they stand. Those that do not
 * report it soon are named, in a note that stays. Without `meant` they are the robots to which fleetd sent the stop.
 */
export function noteStop(batch: Batch, meant: readonly string[], id = `stop ${batch.latch}`): void {
  const t = useShellTexts.now();
  const all = meant.length > 0 ? meant : batch.commands.map((c) => c.robot);
  const latch = batch.latch ?? '';
  const at = clock(fleetdNow());
  const note = { id, color: 'red', loading: false, autoClose: undefined };
  toast({ ...note, title: t.stopSent(batch.total, few(all)), message: t.stopUnderWay }, all);
  if (all.length === 0) return;

  const missing = () => all.filter((robot) => !stands(robots.get(robot), latch));
  const check = () => {
    if (missing().length > 0) return;
    end();
    const message = t.stoppedByYou(at);
    toast({ ...note, title: t.stands(all.length, few(all)), message }, all);
  };
  const late = setTimeout(() => {
    const those = missing();
    const title = t.notStanding(those.length, few(those.map((robot) => named(robot, t.notConnected))));
    toast({ ...note, title, message: t.stopFailedHelp, autoClose: false }, all);
  }, standing);
  const unsubscribe = robots.subscribe(undefined, check);
  const given = setTimeout(() => end(), lateFor);
  const end = () => {
    clearTimeout(late);
    clearTimeout(given);
    unsubscribe();
  };
  check();
}

/** The names, if they are few enough to be listed. */
function few(names: readonly string[]): string | undefined {
  return names.length <= listed ? names.join(', ') : undefined;
}

function named(robot: string, notConnected: string): string {
  const status = robots.get(robot)?.presence.status ?? 'unknown';
  return status === 'online' || status === 'degraded' ? robot : `${robot} (${notConnected})`;
}
