import { describe, expect, it } from 'vitest';

import type { Timeline } from '../library/api';
import { barsOf, lanesOf, placeAt, snap, snapped, speechLengths } from './layout';
import { read } from './model';

const nothing = { drawn: false, incomplete: new Set<string>(), conflicts: new Set<string>() };
const lengths = { acts: new Map([['wave', 4000]]), sounds: new Map([['gong', 2500]]) };

const act = read('act', {
  act: 'x',
  actions: [
    { type: 'say', start_ms: 0, timeout_ms: 8000, text: { en: 'Hello you there' } },
    { type: 'face', start_ms: 100, face: '' },
    {
      type: 'group',
      start_ms: 2000,
      actions: [
        { type: 'sound', start_ms: 500, timeout_ms: 5000, sound: 'gong' },
        { type: 'act', start_ms: 1000, act: 'wave' },
      ],
    },
    { type: 'led', start_ms: 3000, end_ms: 4000, unit: 'ears' },
  ],
});
const at = (bars: ReturnType<typeof barsOf>) =>
  bars.map((b) => [b.item.fields.type ?? b.item.fields.act, b.start, b.end]);

describe('bars', () => {
  it('are drawn of a draft that is not finished, before fleetd has said anything', () => {
    expect(at(barsOf('act', act, lengths, nothing))).toEqual([
      ['say', 0, 1071],
      ['face', 100, 100],
      ['group', 2000, 5500],
      ['sound', 2500, 5000],
      ['act', 3000, 7000],
      ['led', 3000, 4000],
    ]);
  });

  it('are where fleetd would perform them once it has drawn this draft', () => {
    const timeline = {
      lanes: [
        {
          class: 'led',
          bars: [{ type: 'led', start_ms: 5000, end_ms: 6000, waits_ms: 2000, pointer: '/actions/3' }],
        },
      ],
    } as unknown as Timeline;
    const led = (drawn: boolean) => barsOf('act', act, lengths, { ...nothing, timeline, drawn }).at(-1)!;
    expect(led(true)).toMatchObject({ start: 5000, end: 6000, waits: 2000 });
    expect(led(false)).toMatchObject({ start: 3000, end: 4000, waits: 0 });
  });

  it('of a story follow each other, as long as their acts last', () => {
    const story = read('story', { story: 's', acts: [{ act: 'wave' }, { act: 'new' }, { act: 'wave' }] });
    const bars = barsOf('story', story, lengths, nothing);
    expect(at(bars)).toEqual([
      ['wave', 0, 4000],
      ['new', 4000, 7000],
      ['wave', 7000, 11_000],
    ]);
    expect([0, 1900, 2100, 6000, 99_000].map((ms) => placeAt(bars, [], ms))).toEqual([0, 0, 1, 2, 3]);
    expect(placeAt(bars, [bars[0]!.key], 6000)).toBe(1);
  });

  it('lie in a lane for each class, and for each unit that they name', () => {
    const lanes = lanesOf(barsOf('act', act, lengths, nothing));
    expect(lanes.map((l) => [l.name, l.unit, l.bars.length])).toEqual([
      ['act', '', 1],
      ['group', '', 1],
      ['speech', '', 1],
      ['sound', '', 1],
      ['face', '', 1],
      ['led', 'ears', 1],
    ]);
  });
});

it('what is dragged snaps to edges within reach, or else to the grid, with its start or its end', () => {
  expect([1040, 1060, 1260, -300].map((ms) => snap(ms, [1250], 100, 20))).toEqual([1000, 1100, 1250, 0]);
  const bar = { start: 1000, end: 1730 };
  expect(snapped(240, bar, [1250], 100, 20)).toBe(250);
  expect(snapped(290, bar, [2000], 100, 20)).toBe(270); // its end meets the edge
  expect(snapped(-5000, bar, [], 100, 20)).toBe(-1000);
});

it('a text has a length in each of its languages', () => {
  expect(speechLengths({ type: 'say', rate: 2, text: { en: 'x'.repeat(28), de: '', fr: 'y'.repeat(14) } })).toEqual([
    { lang: 'en', ms: 1000 },
    { lang: 'fr', ms: 500 },
  ]);
  expect(speechLengths({ type: 'face' })).toEqual([]);
});
