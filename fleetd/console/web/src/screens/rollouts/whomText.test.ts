import { expect, test } from 'vitest';

import { whomText } from './whomText';

test.each([
  ['--all', 'all robots'],
  ['-l site=museum', 'site museum'],
  ['-l site=museum -l floor=2', 'site museum, floor 2'],
  ['r1 lobby-2', 'r1, lobby-2'],
  ['-l site=museum --doing=paused', '-l site=museum --doing=paused'],
  ['-l room=big hall', '-l room=big hall'],
])('%s', (selector, said) => expect(whomText(selector, 'all robots')).toBe(said));
