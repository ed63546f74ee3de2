import type { Timeline } from '../library/api';
import type { Kind } from './model';

/** What a trial performs by time: how long it lasts, and of a story its acts. */
export interface Trial {
  length: number;
  acts: { act: string; start: number }[];
}

const below = (pointer: string, top: string) => pointer === top || pointer.startsWith(`${top}/`);

/** The part of a timeline that a trial performs, from 0: all of it, or only what is at these pointers. */
export function trialOf(timeline: Timeline, kind: Kind, only: readonly string[]): Trial {
  if (kind === 'act') {
    const bars = (timeline.lanes ?? [])
      .flatMap((l) => l.bars ?? [])
      .filter((b) => only.some((p) => below(b.pointer, p)));
    if (only.length === 0) return { length: timeline.length_ms, acts: [] };
    const first = Math.min(...bars.map((b) => b.start_ms));
    return { length: bars.length > 0 ? Math.max(...bars.map((b) => b.end_ms)) - first : 0, acts: [] };
  }
  const acts: Trial['acts'] = [];
  let length = 0;
  for (const s of timeline.acts ?? []) {
    if (only.length > 0 && !only.includes(`/acts/${s.step}`)) continue;
    acts.push({ act: s.act, start: length });
    length += s.end_ms - s.start_ms;
  }
  return { length, acts };
}

/** The act of a trial that is performed after so many ms, counted from 0; -1 if it has no acts. */
export const actAt = (trial: Trial, ms: number): number => trial.acts.findLastIndex((a) => a.start <= ms);
