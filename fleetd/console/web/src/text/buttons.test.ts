import { expect, test, vi } from 'vitest';

import { inButtons } from './buttons';

vi.mock('./language', () => ({ texts: (en: object) => Object.assign(() => en, { now: () => en }) }));

test.each([
  ['release it with auto/continue, or by its name operator:fleetd/ada/01a2', 'release it with “Continue”'],
  [
    'the story is paused by ada; auto/continue with token operator:a releases it',
    'the story is paused by ada; “Continue” releases it',
  ],
  ['no client has control; acquire it with control/acquire', 'no client has control; acquire it with “Take control”'],
  ['release the latched stop stop-1-a, stop-2-b, then safety/enable', 'release the stop, then “Let it move”'],
  ['mode/set ato starts the story', '“automatic” starts the story'],
  [
    'the handler performs only what act/perform asks for',
    'the reaction performs only what “perform an act in between” asks for',
  ],
  ['the file and/or the folder', 'the file and/or the folder'],
])('%s', (text, shown) => {
  expect(inButtons(text)).toBe(shown);
});
