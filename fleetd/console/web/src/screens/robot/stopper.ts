import type { Robot, Schemas } from '../../api/client';

type Event = Pick<Schemas['SchemaEvent'], 'type' | 'ts' | 'cause' | 'req_id' | 'data'>;

export interface Stopper {
  who: string;
  at: string;
  why: string;
  /** Nobody stopped it: its mode ended, such as when the robot is shut down. */
  mode?: boolean;
}

/** ms between the events of one stop: that it is latched, and that the robot may not move. */
const same = 3000;

/** Who or what stopped a robot, and when: by the stop that is latched, or else by its last events, the newest first. */
export function stopperOf(latches: Robot['latches'], events: readonly Event[]): Stopper | undefined {
  const held = latches[0];
  if (held) return { who: held.by || held.client || '', at: held.since, why: held.why ?? '' };
  const left = events.find((e) => e.type === 'safety_changed' && (e.data as { from?: string })?.from === 'ENABLED');
  const latched = events.find((e) => e.type === 'stop_latched');
  if (latched && (!left || Date.parse(latched.ts) > Date.parse(left.ts) - same)) {
    const { by = '', why = '' } = (latched.data ?? {}) as { by?: string; why?: string };
    return { who: by, at: latched.ts, why };
  }
  if (left?.cause === 'mode') return { who: '', at: left.ts, why: '', mode: true };
  const client = left?.req_id?.split('/')[0] ?? '';
  // fleetd sends the commands of every person, under the name of its instance, such as fleetd or fleetd-b.
  return left && { who: /^fleetd(-|$)/.test(client) ? '' : client, at: left.ts, why: '' };
}
