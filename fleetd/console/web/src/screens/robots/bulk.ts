import { api, type Batch, data } from '../../api/client';
import { line, robotsOf, signed, verbLine } from '../../api/commandline';
import type { Selector } from './filter';

/** What can be done to a selection of robots. */
export type BulkAction =
  | { kind: 'verb'; name: 'mode'; mode: string }
  | { kind: 'verb'; name: 'pause' | 'continue' | 'enable' }
  | { kind: 'label'; set: Record<string, string>; unset: string[] };

/** What an action would do to a selection now. */
export interface Preview {
  total: number;
  /** Not connected; a command is sent if they are back in time. */
  waiting: number;
  /** Robots to which it is not sent, by reason. */
  skipped: [reason: string, robots: string[]][];
  /** Robots for which it changes nothing. */
  unchanged: number;
}

function order(a: BulkAction & { kind: 'verb' }): { verb: string; args?: unknown } {
  switch (a.name) {
    case 'mode':
      return { verb: 'mode/set', args: { mode: a.mode } };
    case 'enable':
      return { verb: 'safety/enable' };
    default:
      return { verb: `auto/${a.name}` };
  }
}

/** Asks fleetd what an action would do; nothing is sent. */
export async function preview(a: BulkAction, selector: Selector): Promise<Preview> {
  if (a.kind === 'label') {
    const d = await data(api.POST('/api/v1/labels', { body: { selector, set: a.set, unset: a.unset, dry_run: true } }));
    return { total: d.total, waiting: 0, skipped: [], unchanged: d.total - d.updated.length };
  }
  const d = await data(api.POST('/api/v1/commands', { body: { ...order(a), selector, dry_run: true } }));
  return { ...countsOf(d), total: d.total, unchanged: 0 };
}

function countsOf(b: Batch): Pick<Preview, 'waiting' | 'skipped'> {
  const skipped = new Map<string, string[]>();
  for (const s of b.skipped ?? []) {
    const why = s.detail || s.reason;
    skipped.set(why, [...(skipped.get(why) ?? []), s.robot]);
  }
  return { waiting: b.waiting?.length ?? 0, skipped: [...skipped] };
}

/** Sends an action to exactly as many robots as were shown; fleetd refuses another number. */
export async function send(a: BulkAction, selector: Selector, expected: number, why: string): Promise<void> {
  const rest = { selector, expected_count: expected, why: why || undefined };
  if (a.kind === 'label') await api.POST('/api/v1/labels', { body: { ...rest, set: a.set, unset: a.unset } });
  else await api.POST('/api/v1/commands', { body: { ...rest, ...order(a) } });
}

/** The command lines that do the same to as many robots. */
export function linesOf(a: BulkAction, selector: Selector, expected: number | undefined, why: string): string[] {
  const robots = robotsOf(selector);
  if (a.kind === 'label') {
    const changes = [...Object.entries(a.set).map(([k, v]) => `${k}=${v}`), ...a.unset.map((k) => `${k}-`)];
    // By name it labels one robot.
    if (selector.ids?.length) return selector.ids.map((id) => line('robot', 'label', id, ...changes));
    return [line('robot', 'label', ...robots, ...changes)];
  }
  const { verb, args } = order(a);
  return [verbLine(verb, (args ?? {}) as Record<string, unknown>, [...robots, ...signed('', expected)], why)];
}
