import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

import { inPlainEnglish } from './plainWhy';

test.each([
  [
    'it waits for 2 robots: 1 offered the content, 1 watched for the soak; and for the soak of wave "half"',
    'it waits for 2 robots: 1 getting it, 1 being watched; then wave "half" is watched for a while',
  ],
  ['wave "canary" passed: 1 CONFIRMED', 'wave "canary" passed: 1 confirmed'],
  [
    'it reports the content active, also after a failure, and is watched for the soak',
    'it has it in use, and is watched',
  ],
  ['summer season', 'summer season'],
])('in plain English: %s', (why, plain) => expect(inPlainEnglish(why)).toBe(plain));

test('no reason in the state tables of rollouts says soak or gate to a person', () => {
  const source = readFileSync('../../rollout/state.go', 'utf8');
  const reasons = [...source.matchAll(/Why:\s+"([^"]+)"/g)].map((m) => m[1]!);
  expect(reasons.filter((why) => /\b(soak|gate)\b/.test(inPlainEnglish(why)))).toEqual([]);
});
