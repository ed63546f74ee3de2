import type { Robot } from '../../api/client';
import { problem } from '../robots/order';

/** Robots that perform, or that wait on purpose, have this place in the order or a later one. */
const well = 4;

/** The pauses that people asked for: nothing ends them but a person. */
export function pausedByPeople(fleet: readonly Robot[]): { id: string; by: string; since: string }[] {
  return fleet.flatMap((r) => {
    const pause = r.doing === 'paused' && r.pause_holders.find((p) => p.token.startsWith('operator'));
    return pause ? [{ id: r.id, by: pause.by ?? '', since: pause.since }] : [];
  });
}

/** The robots that need a person, the most urgent first. */
export function lookFirst(fleet: readonly Robot[]): Robot[] {
  return fleet.filter((r) => problem(r) < well).sort((a, b) => problem(a) - problem(b) || (a.id < b.id ? -1 : 1));
}
