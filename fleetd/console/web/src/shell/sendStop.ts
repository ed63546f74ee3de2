import type { Batch } from '../api/client';
import { problemOf } from '../api/problem';
import { robots } from '../live/robots';
import { fleetdNow } from '../live/stream';
import { clock } from '../text/time';
import { stands, stop, type Whom } from './stopping';
import { useShellTexts } from './text';
import { toast } from './toast';

/** Up to this many robots are listed by name. */
const listed = 4;
/** ms within which a robot that the stop reaches reports that it stands. */
const standing = 8000;
/** ms for which a robot that was late may still report it. */
const lateFor = 600_000;

/** Stops robots, and says what became of that. */
export async function sendStop(whom: Whom, meant: readonly string[]): Promise<void> {
  const t = useShellTexts.now();
  try {
    noteStop(await stop(whom), meant);
  } catch (thrown) {
    const p = problemOf(thrown);
    const message = `${p.message}. ${t.stopFailedHelp}`;
    toast({ color: 'red', title: t.stopFailed, message, autoClose: false }, meant);
  }
}

/**
 * Says which robots fleetd has accepted a stop for, and then that they report that they stand. Those that do not
 * report it soon are named, in a note that stays. Without `meant` they are the robots to which fleetd sent the stop.
 */
export function noteStop(batch: Batch, meant: readonly string[]): void {
  const t = useShellTexts.now();
  const all = meant.length > 0 ? meant : batch.commands.map((c) => c.robot);
  const latch = batch.latch ?? '';
  const id = `stop ${latch}`;
  const at = clock(fleetdNow());
  toast({ id, color: 'red', title: t.stopSent(batch.total, few(all)), message: t.stopUnderWay }, all);
  if (all.length === 0) return;

  const missing = () => all.filter((robot) => !stands(robots.get(robot), latch));
  const check = () => {
    if (missing().length > 0) return;
    end();
    const message = t.stoppedByYou(at);
    toast({ id, color: 'red', title: t.stands(all.length, few(all)), message, autoClose: undefined }, all);
  };
  const late = setTimeout(() => {
    const those = missing();
    const title = t.notStanding(those.length, few(those.map((robot) => named(robot, t.notConnected))));
    toast({ id, color: 'red', title, message: t.stopFailedHelp, autoClose: false }, all);
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
