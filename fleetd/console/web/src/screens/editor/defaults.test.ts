import { expect, it } from 'vitest';

import { summary } from './defaults';
import { anglesIn } from './turns';

it('a line about an action has directions, and the names of fields for people', () => {
  const after = (what: string) => (n: string) => `${n} ${what}`;
  const turns = {
    left: after('left'),
    right: after('right'),
    up: after('up'),
    down: after('down'),
    back: after('back'),
    forward: after('forward'),
    side: after('to the side'),
    straight: 'straight ahead',
    upright: 'upright',
  };
  const words = { field: (name: string) => ({ height_m: 'Height' })[name] ?? name, turns };
  const head = { type: 'head', start_ms: 0, yaw_rad: 0.7854, pitch_rad: -0.1 };
  expect(summary(head, 'en', words)).toBe('head: 45° left, 6° down');
  expect(summary({ ...head, yaw_rad: -0.7854, pitch_rad: 0 }, 'en', words)).toBe('head: 45° right');
  expect(summary({ ...head, yaw_rad: 0, pitch_rad: 0 }, 'en', words)).toBe('head: straight ahead');
  expect(summary({ type: 'pose', pitch_rad: 0.12, height_m: 1.1 }, 'en', words)).toBe('pose: 7° back, Height 1.1 m');
  expect(summary({ type: 'say', text: { en: 'Hello' } }, 'en', words)).toBe('say: Hello');
  expect(summary({ type: 'wait' }, 'en', words)).toBe('wait');
});

it('the angles of the timeline are read from its text', () => {
  expect(anglesIn('yaw -34.4°, pitch 0°')).toEqual({ yaw: -34.4, pitch: 0, roll: undefined });
});
