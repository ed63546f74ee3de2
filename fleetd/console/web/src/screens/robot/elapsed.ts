import type { Schemas } from '../../api/client';

type Event = Schemas['Event'];

/**
 * For how long the newest act of the story has been performed, in ms without pauses, from
 * events of the robot, the newest first; undefined if none of them says. It is 0 while they do
 * not have the beginning of the act that the robot reports.
 */
export function elapsed(events: readonly Event[], paused: boolean, now: number, act?: string): number | undefined {
  const started = events.find(
    (e) => e.type === 'act_started' && (e.data as { lane?: string } | undefined)?.lane === 'story',
  );
  if (!started) return undefined;
  const began = (started.data as { act?: string }).act;
  if (act && began && began !== act) return 0;
  let sum = 0;
  let running: number | undefined = Date.parse(started.received);
  const changes = events
    .filter((e) => e.type === 'auto_changed' && e.seq > started.seq && e.boot === started.boot)
    .sort((a, b) => a.seq - b.seq);
  for (const e of changes) {
    const at = Date.parse(e.received);
    if ((e.data as { to?: string } | undefined)?.to === 'idle') running ??= at;
    else if (running !== undefined) {
      sum += at - running;
      running = undefined;
    }
  }
  if (running !== undefined && !paused) sum += Math.max(0, now - running);
  return sum;
}
