import type { Batch } from '../api/client';
import { problemOf } from '../api/problem';
import { robots } from '../live/robots';
import { fleetdNow } from '../live/stream';
import { clock } from '../text/time';
import { stands, stop, type Whom } from './stopping';
import { useShellTexts } from './text';
import { toast } from './toast';

/** Up to this many robots are named. */
const named = 4;
/** ms within which robots report that they stand. */
const standing = 8000;

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

/** Says which robots fleetd has accepted a stop for, and then that they report that they stand. */
export function noteStop(batch: Batch, meant: readonly string[]): void {
  const t = useShellTexts.now();
  const names = meant.length <= named ? meant.join(', ') : undefined;
  const at = clock(fleetdNow());
  const id = `stop ${batch.latch}`;
  toast({ id, color: 'red', title: t.stopSent(batch.total, names), message: t.stopUnderWay }, meant);
  whenStanding(batch.latch ?? '', meant, () =>
    toast({ id, color: 'red', title: t.stands(meant.length, names), message: t.stoppedByYou(at) }, meant),
  );
}

/** Calls back once all of these robots report that they stand with this stop, if they do so soon. */
function whenStanding(latch: string, meant: readonly string[], then: () => void): void {
  if (meant.length === 0) return;
  const check = () => {
    if (!meant.every((id) => stands(robots.get(id), latch))) return;
    end();
    then();
  };
  const unsubscribe = robots.subscribe(undefined, check);
  const timer = setTimeout(unsubscribe, standing);
  const end = () => {
    clearTimeout(timer);
    unsubscribe();
  };
  check();
}
