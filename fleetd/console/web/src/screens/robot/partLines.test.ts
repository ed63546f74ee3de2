import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

import { linesOf } from './partLines';

test('each control of a part has its line below its name', () => {
  const one = { dataset: { line: 'fleetd safety enable r1' }, textContent: ' Enable ' };
  const named = { dataset: { line: 'fleetd mode set ato r1', what: 'Back to automatic' }, textContent: 'ato' };
  expect(linesOf([one, named, one])).toEqual([
    '# Enable\nfleetd safety enable r1',
    '# Back to automatic\nfleetd mode set ato r1',
  ]);
});

// A button that sends a command by itself would have no line.
test('each button of the robot page that only sends a command names it', () => {
  const folder = new URL('.', import.meta.url);
  const own = readdirSync(folder)
    .filter((f) => f.endsWith('.tsx'))
    .filter((f) => /onClick=\{\(\) =>\s*send\(/.test(readFileSync(new URL(f, folder), 'utf8')));
  expect(own).toEqual([]);
});
