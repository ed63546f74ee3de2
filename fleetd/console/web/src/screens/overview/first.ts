import type { Robot } from '../../api/client';
import { problem } from '../robots/order';

/** Robots that perform, or that wait on purpose, have this place in the order or a later one. */
const well = 4;

/** The robots that need a person, the most urgent first. */
export function lookFirst(fleet: readonly Robot[]): Robot[] {
  return fleet.filter((r) => problem(r) < well).sort((a, b) => problem(a) - problem(b) || (a.id < b.id ? -1 : 1));
}
