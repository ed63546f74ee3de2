import { sameLanguage } from '../../text/multilingual';
import type { Timeline } from '../library/api';

/** A step of the scale that gives about ten marks. */
export function tick(length: number): number {
  for (const step of [500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000])
    if (length / step <= 12) return step;
  return 1_200_000;
}

/** The languages of texts that do not exist in the wanted one. */
export function otherLanguages(timeline: Timeline, wanted: string): string[] {
  const all = (timeline.lanes ?? []).flatMap((l) => (l.bars ?? []).flatMap((b) => (b.lang ? [b.lang] : [])));
  return [...new Set(all)].filter((l) => !sameLanguage(l, wanted)).sort();
}
