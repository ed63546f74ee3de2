import type { Robot, Schemas } from '../../api/client';
import { partOf } from '../rollouts/states';
import type { State } from '../rollouts/types';

type Selector = Schemas['SelectorSelector'];

/**
 * Whether a selector means a robot whatever it does until then: by its id, its labels, or because it means all. What a
 * robot does may be otherwise when the time comes, so a selector that asks for it says nothing yet.
 */
export function surelyMeans(s: Selector | undefined, r: Pick<Robot, 'id' | 'labels'>): boolean {
  if (!s) return false;
  const { all, ids = [], labels = [], ...others } = s;
  if (Object.values(others).some((v) => (Array.isArray(v) ? v.length > 0 : !!v))) return false;
  if (ids.length > 0) return ids.includes(r.id);
  return labels.length > 0 ? labels.every((l) => r.labels[l.key] === l.value) : !!all;
}

interface Timed {
  id: string;
  next_at?: string;
  selector?: Selector;
}

/** The schedule that is the next to change something for a robot. */
export function nextSchedule<S extends Timed>(schedules: readonly S[], r: Pick<Robot, 'id' | 'labels'>): S | undefined {
  return schedules
    .filter((s) => s.next_at && surelyMeans(s.selector, r))
    .reduce<S | undefined>((first, s) => (!first || s.next_at! < first.next_at! ? s : first), undefined);
}

/** A rollout that a robot waits for, or that is about to reach it. */
export interface Queued {
  id: string;
  name: string;
  underway: boolean;
  /** When it begins, if that lies ahead. */
  at?: string;
}

type Listed = Pick<Schemas['RolloutRobot'], 'robot' | 'state'>;

/** Whether a rollout still gives robots its content, by itself or once somebody resumes it. */
export const gives = (s: State): boolean => s === 'RUNNING' || s === 'SCHEDULED' || s === 'PAUSED';

/** The rollouts of each robot that have not reached it, in the order in which they come. */
export function queues(
  rollouts: readonly { id: string; name?: string; not_before?: string; robots: readonly Listed[] }[],
): ReadonlyMap<string, readonly Queued[]> {
  const all = new Map<string, Queued[]>();
  for (const o of rollouts)
    for (const { robot, state } of o.robots) {
      const part = partOf[state];
      // A robot that is being restored gets what it had before.
      if ((part !== 'waiting' && part !== 'underway') || state === 'RESTORING') continue;
      const of = all.get(robot) ?? [];
      all.set(robot, of);
      of.push({ id: o.id, name: o.name || o.id, underway: part === 'underway', at: o.not_before });
    }
  // What is underway comes before what waits, and what begins later behind it.
  for (const of of all.values())
    of.sort((a, b) => Number(b.underway) - Number(a.underway) || (a.at ?? '').localeCompare(b.at ?? ''));
  return all;
}
