import type { Entry } from '../library/api';
import { actsOf, type Fields, read } from './model';
import { isDraftAct } from './unfinished';

/** Acts whose drafts are not what is published. */
export interface DraftActs {
  /** They were never published, so they have to be before what names them. */
  unpublished: Entry[];
  /** They were changed after they were published. */
  changed: Entry[];
}

/** Finds them among the acts that a draft names, and among those that the unpublished ones perform. */
export async function draftActsOf(
  named: readonly string[],
  library: readonly Entry[],
  get: (id: string) => Promise<Entry>,
): Promise<DraftActs> {
  const found: DraftActs = { unpublished: [], changed: [] };
  const seen = new Set<string>();
  for (const queue = [...named]; queue.length > 0;) {
    const id = queue.shift()!;
    const act = library.find((a) => a.id === id);
    if (!act || seen.has(id)) continue;
    seen.add(id);
    if (act.rev > 0) {
      if (act.draft_changed) found.changed.push(act);
      continue;
    }
    found.unpublished.push(act);
    queue.push(...actsOf('act', read('act', ((await get(id)).content ?? {}) as Fields)));
  }
  return found;
}

/**
 * How many errors keep an act from being published together with others. An act that it names
 * may have been made after it was saved, so fleetd says whether that one is missing.
 */
export const errorsIn = (act: Pick<Entry, 'problems'>) =>
  (act.problems ?? []).filter((p) => p.severity === 'error' && !isDraftAct(p) && p.code !== 'unknown_act').length;
