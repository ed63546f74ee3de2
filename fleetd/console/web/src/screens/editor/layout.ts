import type { ActionClass, ActionType } from '../../contract';
import type { Timeline } from '../library/api';
import { type Doc, type Fields, flat, type Item, type Kind, lengthOf } from './model';

/** One action, or one act of a story, on the timeline. Times are in ms from the start of the whole. */
export interface Bar {
  key: string;
  item: Item;
  pointer: string;
  start: number;
  end: number;
  /** Its length is a guess: it ends when its unit is done. */
  estimated: boolean;
  /** ms that it waits for the one before it on its unit. */
  waits: number;
  /** Something of it is not written yet. */
  incomplete: boolean;
  conflict: boolean;
}

export interface Lane {
  name: ActionClass | 'act';
  unit: string;
  bars: Bar[];
}

const classes: Record<ActionType, ActionClass | 'act'> = {
  say: 'speech',
  sound: 'sound',
  face: 'face',
  led: 'led',
  screen: 'screen',
  head: 'head',
  motion: 'body',
  pose: 'body',
  goto: 'body',
  drive: 'body',
  wait: 'wait',
  act: 'act',
  group: 'group',
};

const order: readonly Lane['name'][] = [
  'act',
  'group',
  'speech',
  'sound',
  'face',
  'led',
  'screen',
  'head',
  'body',
  'wait',
];

/** What the console knows of lengths beside the draft, in ms. */
export interface Lengths {
  acts: ReadonlyMap<string, number>;
  sounds: ReadonlyMap<string, number>;
}

/** ms of an act whose length nobody knows, such as one that is only begun. */
const unknown = 3000;

/** What fleetd says of the draft; drawn is whether its timeline is of the draft as it is now. */
export interface Said {
  timeline?: Timeline;
  drawn: boolean;
  incomplete: ReadonlySet<string>;
  conflicts: ReadonlySet<string>;
}

/** How long an item lasts, as far as the page knows. */
function guess(i: Item, { acts, sounds }: Lengths): number {
  const { act, sound, loop, timeout_ms } = i.fields as {
    act?: string;
    sound?: string;
    loop?: boolean;
    timeout_ms?: number;
  };
  if (i.fields.type === 'act' || i.fields.type === undefined) return acts.get(act ?? '') ?? unknown;
  const known = sound === undefined || loop ? undefined : sounds.get(sound);
  return known !== undefined && timeout_ms !== undefined ? Math.min(known, timeout_ms) : lengthOf(i);
}

/** Every item as a bar. It is drawn whether or not the draft is finished. */
export function barsOf(kind: Kind, doc: Doc, lengths: Lengths, said: Said): Bar[] {
  const performed = new Map<string, { start: number; end: number; estimated: boolean; waits: number }>();
  if (said.drawn && kind === 'act')
    for (const l of said.timeline?.lanes ?? [])
      for (const b of l.bars ?? [])
        performed.set(b.pointer, {
          start: b.start_ms,
          end: b.end_ms,
          estimated: !!b.estimated,
          waits: b.waits_ms ?? 0,
        });
  const spans = said.drawn && kind !== 'act' ? (said.timeline?.acts ?? []) : [];
  const starts: number[] = []; // of the groups around the item
  let clock = 0; // of a story: its acts follow each other
  return flat(kind, doc).map(({ item, pointer, depth }, n) => {
    const own = {
      key: item.key,
      item,
      pointer,
      incomplete: said.incomplete.has(item.key),
      conflict: said.conflicts.has(item.key),
    };
    if (kind !== 'act') {
      const span = spans[n];
      const start = span?.start_ms ?? clock;
      const length = span ? span.end_ms - span.start_ms : guess(item, lengths);
      clock = start + length;
      return { ...own, start, end: start + length, estimated: span ? !!span.estimated : true, waits: 0 };
    }
    const written = (depth > 0 ? starts[depth - 1]! : 0) + Number(item.fields.start_ms ?? 0);
    starts[depth] = written;
    const known = performed.get(pointer);
    if (known) {
      const length = item.fields.type === 'sound' ? guess(item, lengths) : known.end - known.start;
      return { ...own, ...known, end: known.start + length };
    }
    const length = guess(item, lengths);
    const estimated = item.fields.type === 'act' || typeof item.fields.timeout_ms === 'number';
    return { ...own, start: written, end: written + length, estimated, waits: 0 };
  });
}

/** The bars in their lanes: one for each class of actions, and for each unit that they name. */
export function lanesOf(bars: readonly Bar[]): Lane[] {
  const lanes = new Map<string, Lane>();
  for (const bar of bars) {
    const name = classes[bar.item.fields.type as ActionType] ?? 'act';
    const unit = typeof bar.item.fields.unit === 'string' ? bar.item.fields.unit : '';
    const at = `${name}/${unit}`;
    if (!lanes.has(at)) lanes.set(at, { name, unit, bars: [] });
    lanes.get(at)!.bars.push(bar);
  }
  const all = [...lanes.values()];
  for (const l of all) l.bars.sort((a, b) => a.start - b.start);
  return all.sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name) || a.unit.localeCompare(b.unit));
}

/** ms of a text when it is spoken, at a rate; fleetd assumes so, too. */
export const speechMS = (text: string, rate: unknown) =>
  Math.round(([...text].length * 1000) / 14 / (Number(rate) || 1));

/** How long a text takes in each of its languages. */
export function speechLengths(fields: Fields): { lang: string; ms: number }[] {
  if (fields.type !== 'say') return [];
  return Object.entries((fields.text as Record<string, string> | undefined) ?? {})
    .filter(([, text]) => text !== '')
    .map(([lang, text]) => ({ lang, ms: speechMS(text, fields.rate) }));
}

/** The time to which something snaps that was dragged to ms: an edge of another bar within reach, or else the grid. */
export function snap(ms: number, edges: readonly number[], grid: number, reach: number): number {
  let best = Math.round(ms / grid) * grid;
  let nearest = reach;
  for (const e of edges)
    if (Math.abs(e - ms) <= nearest) {
      nearest = Math.abs(e - ms);
      best = e;
    }
  return Math.max(0, Math.round(best));
}

/** By how much a drag moves bars: such that their start, or else their end, snaps. */
export function snapped(
  by: number,
  bar: { start: number; end: number },
  edges: readonly number[],
  grid: number,
  reach: number,
) {
  const [start, end] = [bar.start + by, bar.end + by];
  const from = snap(start, edges, grid, reach);
  if (edges.includes(from)) return from - bar.start;
  const to = edges.find((e) => Math.abs(e - end) <= reach);
  return (to === undefined ? from : Math.max(0, to - (bar.end - bar.start))) - bar.start;
}

/** The place in a story at which an act stands that is dropped at ms; it counts without those that are moved. */
export function placeAt(bars: readonly Bar[], moved: readonly string[], ms: number): number {
  const others = bars.filter((b) => !moved.includes(b.key));
  const at = others.findIndex((b) => ms < (b.start + b.end) / 2);
  return at < 0 ? others.length : at;
}
