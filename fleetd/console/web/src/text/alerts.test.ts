import { expect, test, vi } from 'vitest';

import { alertSays, ownBeside, useAlertWords } from './alerts';

const page = vi.hoisted(() => ({ language: 0 }));
vi.mock('./language', () => ({
  texts: (...all: object[]) => Object.assign(() => all[page.language], { now: () => all[page.language] }),
}));

const alert = { type: 'story_failing', source: 'auto', detail: 'act hello: no sound bell', hint: 'add the sound' };

test('the own sentence of a robot stands beside the words of a page that is not English, and only there', () => {
  const own = 'act hello: no sound bell; add the sound';
  expect(alertSays(useAlertWords(), alert)).toBe(own);
  expect(ownBeside(useAlertWords(), alert)).toBe('');
  for (page.language of [1, 2]) {
    expect(alertSays(useAlertWords(), alert)).not.toContain('bell');
    expect(ownBeside(useAlertWords(), alert)).toBe(own);
    expect(ownBeside(useAlertWords(), { ...alert, type: 'new_one' })).toBe('');
  }
});
