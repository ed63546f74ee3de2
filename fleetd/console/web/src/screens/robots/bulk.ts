import { api, type Batch, data } from '../../api/client';
import { reasonText, useReasonTexts } from '../../text/reasons';
import { type BulkAction, commandOf, requestOf } from './bulkRequest';
import type { Selector } from './filter';

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

/** Asks fleetd what an action would do; nothing is sent. */
export async function preview(a: BulkAction, selector: Selector): Promise<Preview> {
  if (a.kind === 'label') {
    const d = await data(api.POST('/api/v1/labels', { body: { selector, set: a.set, unset: a.unset, dry_run: true } }));
    return { total: d.total, waiting: 0, skipped: [], unchanged: d.total - d.updated.length };
  }
  const d = await data(api.POST('/api/v1/commands', { body: { ...commandOf(a), selector, dry_run: true } }));
  return { ...countsOf(d), total: d.total, unchanged: 0 };
}

function countsOf(b: Batch): Pick<Preview, 'waiting' | 'skipped'> {
  const skipped = new Map<string, string[]>();
  for (const s of b.skipped ?? []) {
    const why = reasonText(useReasonTexts.now(), s.reason, s.detail);
    skipped.set(why, [...(skipped.get(why) ?? []), s.robot]);
  }
  return { waiting: b.waiting?.length ?? 0, skipped: [...skipped] };
}

/**
 * Does an action to exactly as many robots as were shown; fleetd refuses another number. The
 * answer is the batch of its commands; labels have none.
 */
export async function send(
  a: BulkAction,
  selector: Selector,
  expected: number,
  why: string,
): Promise<Batch | undefined> {
  const r = requestOf(a, selector, { expected, why });
  if (r.operation === 'command') return data(api.POST('/api/v1/commands', { body: r.body }));
  await api.POST('/api/v1/labels', { body: r.body });
  return undefined;
}
