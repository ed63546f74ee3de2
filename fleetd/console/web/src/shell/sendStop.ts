import { problemOf } from '../api/problem';
import { stop, type Whom } from './stopping';
import { useShellTexts } from './text';
import { toast } from './toast';

/** Stops robots, and says whether fleetd accepted that. */
export async function sendStop(whom: Whom, meant: readonly string[]): Promise<void> {
  const t = useShellTexts.now();
  try {
    const batch = await stop(whom);
    toast({ color: 'red', title: t.stopSent(batch.total), message: batch.latch }, meant);
  } catch (thrown) {
    const p = problemOf(thrown);
    const message = `${p.message}. ${t.stopFailedHelp}`;
    toast({ color: 'red', title: t.stopFailed, message, autoClose: false }, meant);
  }
}
