import type { Robot } from '../../api/client';
import { reachable } from '../robot/wayOut';

const inOrder = new Intl.Collator(undefined, { numeric: true }).compare;

/** The robot whose names are suggested; empty if there is none. */
export function suggesting(chosen: string, all: readonly Robot[]): string {
  let first = '';
  for (const r of all) {
    if (r.id === chosen) return chosen;
    if (reachable(r) && (!first || inOrder(r.id, first) < 0)) first = r.id;
  }
  return first;
}
