import type { Cue } from '../../live/performed';
import { type Multilingual, textIn } from '../../text/multilingual';
import type { Timeline } from '../library/api';
import type { Fields } from './model';

/** What an audience sees and hears, in the order in which it begins. */
export function cuesOf(timeline: Pick<Timeline, 'lanes' | 'actions'>, wanted: string): Cue[] {
  const cues = (timeline.lanes ?? []).flatMap((lane, l) =>
    (lane.bars ?? []).map((b, k) => cueOf(b.start_ms, b.end_ms, (timeline.actions?.[l]?.[k] ?? {}) as Fields, wanted)),
  );
  return cues.sort((a, b) => a.start - b.start);
}

export function cueOf(start: number, end: number, action: Fields, wanted: string): Cue {
  const text = textIn(action.text as Multilingual | undefined, wanted);
  return { start, end, action, words: text?.text ?? '', lang: text?.lang ?? wanted };
}

/** What begins after one time and until another: what is to be heard while a preview plays. */
export const begunBetween = (cues: readonly Cue[], after: number, until: number): Cue[] =>
  cues.filter((c) => c.start > after && c.start <= until);

/** What already runs at a time at which a preview begins. */
export const runningAt = (cues: readonly Cue[], ms: number): Cue[] => cues.filter((c) => c.start <= ms && ms < c.end);
