import { expect, test } from 'vitest';

import { difference } from './storyDiff';

const story = (...acts: string[]) => ({
  story: { acts: acts.map((act) => ({ act })) },
  acts: Object.fromEntries(acts.map((a) => [a, { act: a, says: 'x' }])),
});

test('the same revision has no difference', () => {
  expect(difference(story('a', 'b'), story('a', 'b'))).toEqual({
    added: [],
    removed: [],
    changed: [],
    rearranged: false,
  });
});

test('added, removed and changed acts are named', () => {
  const newest = story('a', 'c');
  (newest.acts as Record<string, object>).a = { act: 'a', says: 'y' };
  expect(difference(story('a', 'b'), newest)).toEqual({
    added: ['c'],
    removed: ['b'],
    changed: ['a'],
    rearranged: false,
  });
});

test('another order is a difference', () => expect(difference(story('a', 'b'), story('b', 'a')).rearranged).toBe(true));
