import { expect, test } from 'vitest';

import { Keys } from './keys';

test('held keys add up, opposite ones cancel out', () => {
  const k = new Keys();
  k.down('KeyW', false);
  k.down('ArrowLeft', false);
  expect(k.velocity()).toEqual({ vx: 1, wz: 1 });
  k.down('KeyS', false);
  expect(k.velocity()).toEqual({ vx: 0, wz: 1 });
  k.up('KeyW');
  k.up('ArrowLeft');
  expect(k.velocity()).toEqual({ vx: -1, wz: 0 });
});

test('a key that was held when the window lost the focus counts only after a new press', () => {
  const k = new Keys();
  k.down('KeyW', false);
  k.clear();
  k.down('KeyW', true); // the keyboard repeats it when the focus is back
  expect(k.velocity()).toEqual({ vx: 0, wz: 0 });
  k.down('KeyW', false);
  expect(k.velocity().vx).toBe(1);
});

test('other keys drive nothing', () => {
  const k = new Keys();
  k.down('KeyX', false);
  expect(k.velocity()).toEqual({ vx: 0, wz: 0 });
});
