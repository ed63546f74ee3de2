import { expect, it } from 'vitest';

import type { Timeline } from '../library/api';
import { actAt, trialOf } from './tryProgress';

const bar = (pointer: string, start_ms: number, end_ms: number) => ({ pointer, start_ms, end_ms });
const act = {
  length_ms: 9000,
  lanes: [
    { bars: [bar('/actions/0', 0, 1000), bar('/actions/1', 2000, 5000)] },
    { bars: [bar('/actions/2/actions/0', 4000, 6500), bar('/actions/10', 0, 9000)] },
  ],
} as unknown as Timeline;
const story = {
  length_ms: 60_000,
  acts: [
    { act: 'welcome', step: 0, start_ms: 0, end_ms: 10_000 },
    { act: 'tale', step: 1, start_ms: 10_000, end_ms: 40_000 },
    { act: 'bow', step: 2, start_ms: 40_000, end_ms: 60_000 },
  ],
} as unknown as Timeline;

it('a trial of everything lasts as long as the timeline', () => {
  expect(trialOf(act, 'act', [])).toEqual({ length: 9000, acts: [] });
  expect(trialOf(story, 'story', []).length).toBe(60_000);
});

it('a trial of some actions begins with the first of them', () => {
  expect(trialOf(act, 'act', ['/actions/1', '/actions/2']).length).toBe(4500);
  expect(trialOf(act, 'act', ['/actions/7']).length).toBe(0);
});

it('a trial of some acts has them one after another', () => {
  const trial = trialOf(story, 'story', ['/acts/0', '/acts/2']);
  expect(trial).toEqual({
    length: 30_000,
    acts: [
      { act: 'welcome', start: 0 },
      { act: 'bow', start: 10_000 },
    ],
  });
  expect([0, 9999, 10_000, 99_000].map((ms) => actAt(trial, ms))).toEqual([0, 0, 1, 1]);
  expect(actAt(trialOf(act, 'act', []), 500)).toBe(-1);
});
