import { expect, it } from 'vitest';

import { refusalText } from './refusal';

const say = (reason?: string) =>
  refusalText(
    reason,
    (name) => ({ point: 'Point' })[name] ?? name,
    (n) => `action ${n}`,
  );

it('a refusal names the place of the fault as the editor counts it', () => {
  expect(say('story_invalid: /acts/desk-tour/actions/1/point: this robot has no point "desk"; it has dock')).toBe(
    'desk-tour, action 2, Point: this robot has no point "desk"; it has dock (story_invalid)',
  );
  expect(say('story_invalid: /acts/tale/actions/0/actions/3: it is: wrong')).toBe(
    'tale, action 1, action 4: it is: wrong (story_invalid)',
  );
});

it('another reason stays as it is', () => {
  expect(say('no_space: the disk is full')).toBe('no_space: the disk is full');
  expect(say(undefined)).toBe(undefined);
});
