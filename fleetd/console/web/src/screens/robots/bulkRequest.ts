import { lineOf } from '../../api/lines';
import type { Verb } from '../../contract';
import type { Selector } from './filter';

/** What can be done to a selection of robots. */
export type BulkAction =
  | { kind: 'verb'; name: 'mode'; mode: string }
  | { kind: 'verb'; name: 'pause' | 'continue' | 'enable' }
  | { kind: 'label'; set: Record<string, string>; unset: string[] };

/** The command of an action. */
export function commandOf(a: BulkAction & { kind: 'verb' }): { verb: Verb; args?: unknown } {
  switch (a.name) {
    case 'mode':
      return { verb: 'mode/set', args: { mode: a.mode } };
    case 'enable':
      return { verb: 'safety/enable' };
    default:
      return { verb: `auto/${a.name}` };
  }
}

/** What a person agreed to: the number of robots, and why. */
interface Agreed {
  expected: number | undefined;
  why: string;
}

/** The request that does an action to exactly as many robots as were shown. */
export function requestOf(a: BulkAction, selector: Selector, { expected, why }: Agreed) {
  const rest = { selector, expected_count: expected, why: why || undefined };
  return a.kind === 'label'
    ? { operation: 'label-robots' as const, body: { ...rest, set: a.set, unset: a.unset } }
    : { operation: 'command' as const, body: { ...rest, ...commandOf(a) } };
}

/** The line of the command line that does the same to as many robots. */
export function bulkLine(a: BulkAction, selector: Selector, expected: number | undefined, why: string): string {
  const r = requestOf(a, selector, { expected, why });
  return r.operation === 'label-robots' ? lineOf(r.operation, r) : lineOf(r.operation, r);
}
