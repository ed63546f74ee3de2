import { expect, it } from 'vitest';

import { summary } from './defaults';

it('a line about an action has angles in degrees and the names of fields for people', () => {
  const word = (field: string) => ({ yaw_rad: 'Turn', pitch_rad: 'Pitch' })[field] ?? field;
  const head = { type: 'head', start_ms: 0, yaw_rad: 0.7854, pitch_rad: -0.1 };
  expect(summary(head, 'en', word)).toBe('head: Turn 45°, Pitch -5.7°');
  expect(summary({ type: 'say', text: { en: 'Hello' } }, 'en', word)).toBe('say: Hello');
});
