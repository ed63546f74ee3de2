import { expect, it } from 'vitest';

import { nothing, type Selection, tick } from './selection';

it('a row that was just added is open, and is not ticked with the next ones', () => {
  const added: Selection = { keys: ['new'], ticked: false };
  expect(tick(tick(added, 'a'), 'b')).toEqual({ keys: ['a', 'b'], ticked: true });
});

it('an open row is ticked by its own box', () => {
  expect(tick({ keys: ['a'], ticked: false }, 'a')).toEqual({ keys: ['a'], ticked: true });
});

it('the last box that is unticked leaves nothing chosen', () => {
  expect(tick({ keys: ['a', 'b'], ticked: true }, 'a')).toEqual({ keys: ['b'], ticked: true });
  expect(tick({ keys: ['b'], ticked: true }, 'b')).toEqual(nothing);
});
