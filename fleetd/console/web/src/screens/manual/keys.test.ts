import { expect, test } from 'vitest';

import { afterPress, afterRepeat, Keys } from './keys';

const still = { vx: 0, wz: 0 };

test('held keys add up, opposite ones cancel out', () => {
  const k = new Keys();
  k.down('KeyW', false, 0);
  k.down('ArrowLeft', false, 0);
  expect(k.velocity()).toEqual({ vx: 1, wz: 1 });
  k.down('KeyS', false, 0);
  expect(k.velocity()).toEqual({ vx: 0, wz: 1 });
  k.up('KeyW', 0);
  k.up('ArrowLeft', 0);
  expect(k.velocity()).toEqual({ vx: -1, wz: 0 });
});

test('a key that was held when the window lost the focus counts only after a new press', () => {
  const k = new Keys();
  k.down('KeyW', false, 0);
  k.clear();
  k.down('KeyW', true, 10); // the keyboard repeats it when the focus is back
  expect(k.velocity()).toEqual(still);
  k.down('KeyW', false, 20);
  expect(k.velocity().vx).toBe(1);
});

test('other keys drive nothing', () => {
  const k = new Keys();
  k.down('KeyX', false, 0);
  expect(k.velocity()).toEqual(still);
});

test('a key on an arrow button drives as the arrow says, until that key is released', () => {
  const k = new Keys();
  k.down('Space', false, 0, 'KeyA');
  expect(k.velocity()).toEqual({ vx: 0, wz: 1 });
  k.up('Space', 10);
  expect(k.velocity()).toEqual(still);
});

test('without a repetition a press is unconfirmed after a while', () => {
  const k = new Keys();
  expect(k.unconfirmed(99_000)).toBe(false); // nothing is held
  k.down('KeyW', false, 1000);
  expect(k.unconfirmed(1000 + afterPress)).toBe(false);
  expect(k.unconfirmed(1001 + afterPress)).toBe(true);
  k.up('KeyW', 4000);
  expect(k.unconfirmed(99_000)).toBe(false);
});

test('a key that is repeated drives on, and not long after its last repetition', () => {
  const k = new Keys();
  k.down('KeyW', false, 0);
  let at = 1000; // a long delay before the first repetition
  for (; at < 60_000; at += 30) {
    k.down('KeyW', true, at);
    expect(k.unconfirmed(at + 30)).toBe(false);
  }
  at -= 30;
  expect(k.unconfirmed(at + afterRepeat)).toBe(false);
  expect(k.unconfirmed(at + afterRepeat + 1)).toBe(true);
});

test('of two held keys the newest alone is repeated, and both drive', () => {
  const k = new Keys();
  k.down('KeyW', false, 0);
  k.down('KeyA', false, 1500);
  for (let at = 2000; at <= 30_000; at += 30) {
    k.down('KeyA', true, at);
    expect(k.unconfirmed(at)).toBe(false);
  }
  expect(k.velocity()).toEqual({ vx: 1, wz: 1 });
});

test('the release of the newest key leaves the older one, which no keyboard repeats, as long as a press', () => {
  const k = new Keys();
  k.down('KeyW', false, 0);
  k.down('KeyA', false, 100);
  k.down('KeyA', true, 1000);
  k.up('KeyA', 1900);
  expect(k.velocity()).toEqual({ vx: 1, wz: 0 });
  expect(k.unconfirmed(1900 + afterPress)).toBe(false);
  expect(k.unconfirmed(1901 + afterPress)).toBe(true);
});

test('the release of the older key changes nothing for the newest', () => {
  const k = new Keys();
  k.down('KeyW', false, 0);
  k.down('KeyA', false, 100);
  k.down('KeyA', true, 1000);
  k.up('KeyW', 1500);
  expect(k.unconfirmed(1001 + afterRepeat)).toBe(true);
});

test('a repetition of a key that is not the newest confirms nothing', () => {
  const k = new Keys();
  k.down('KeyW', false, 0);
  k.down('KeyA', false, 0);
  k.down('KeyW', true, 1900);
  expect(k.unconfirmed(1 + afterPress)).toBe(true);
});

test('the release of another key, such as one that was held before control was taken, confirms nothing', () => {
  const k = new Keys();
  k.down('KeyW', false, 0);
  k.up('KeyD', 1900);
  expect(k.unconfirmed(1 + afterPress)).toBe(true);
});
