import { sameLanguage } from '../../text/multilingual';
import type { Timeline } from '../library/api';
import type { TurnTexts } from './turnText';
import { anglesIn, turned } from './turns';

type Bar = NonNullable<NonNullable<Timeline['lanes']>[number]['bars']>[number];

/** A step of the scale, in ms, that leaves room for its numbers. scale is in pixels per ms. */
export function tick(scale: number): number {
  for (const step of [500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000])
    if (step * scale >= 52) return step;
  return 1_200_000;
}

/** The grid to which bars snap, in ms: finer where the timeline is wider. */
export const gridOf = (scale: number) => (100 * scale >= 12 ? 100 : 100 * scale >= 4 ? 250 : 500);

/** The languages of texts that do not exist in the wanted one. */
export function otherLanguages(timeline: Timeline, wanted: string): string[] {
  const all = (timeline.lanes ?? []).flatMap((l) => (l.bars ?? []).flatMap((b) => (b.lang ? [b.lang] : [])));
  return [...new Set(all)].filter((l) => !sameLanguage(l, wanted)).sort();
}

/** Pixels of the narrowest bar, which a finger can still hit. */
export const narrowest = 24;

/** Pixels of the bars at least: one of some seconds can be read. */
export const least = (length: number) => Math.max(420, Math.round((length / 1000) * 9));

/** The row of each bar in its lane: bars that would lie on each other stand below each other. scale is in pixels per ms. */
export function rowsOf(bars: readonly { start: number; end: number }[], scale: number): number[] {
  const ends: number[] = []; // of the rows
  return bars.map((b) => {
    const free = ends.findIndex((end) => end <= b.start);
    const row = free < 0 ? ends.length : free;
    ends[row] = Math.max(b.end, b.start + narrowest / scale);
    return row;
  });
}

/** Pixels of a bar that is wide enough for its words, and of the least room for them beside it. */
const readable = 40;

/**
 * The pixels from the start of each bar to its words, and those that they have there, for a bar that is too narrow for
 * them, up to the next bar of its row; undefined if they stand in it, or if there is no room. scale is in pixels per ms.
 */
export function beside(
  bars: readonly { start: number; end: number }[],
  length: number,
  scale: number,
): ({ from: number; room: number } | undefined)[] {
  const rows = rowsOf(bars, scale);
  return bars.map((b, k) => {
    const own = (b.end - b.start) * scale;
    const next = bars.findIndex((_, n) => n > k && rows[n] === rows[k]);
    const from = Math.max(own, narrowest) + 4;
    const room = ((bars[next]?.start ?? length) - b.start) * scale - from - 4;
    return own < readable && room >= readable ? { from, room: Math.round(room) } : undefined;
  });
}

/** The color of a bar of lights; an empty text of any other. */
export const colorIn = (b: Bar): string => (b.type === 'led' && /#[0-9a-f]{6}\b/i.exec(b.text ?? '')?.[0]) || '';

/** The text that fleetd put in quotes. */
function unquoted(text: string): string {
  try {
    return text.startsWith('"') ? String(JSON.parse(text)) : text;
  } catch {
    return text; // there are answers behind it
  }
}

/** What stands on a bar: what it says, shows or does, in words for people. */
export function wordsOf(b: Bar, turns: TurnTexts): string {
  const text = b.text ?? '';
  let words = unquoted(text);
  if (b.type === 'head' || b.type === 'pose') {
    const others = text.split(', ').filter((part) => !/^(yaw|pitch|roll) /.test(part));
    words = [turned(turns, b.type, anglesIn(text)), ...others].filter(Boolean).join(', ');
  } else if (b.type === 'led') words = text.replace(colorIn(b), '').replace(/ +/g, ' ').trim();
  return words || b.type;
}
