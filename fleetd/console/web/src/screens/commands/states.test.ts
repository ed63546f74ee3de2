import { expect, test } from 'vitest';

import { type Command, groupOf, inProgress, notCarriedOut, presses } from './states';

const command = (state: string, because: string, reason?: string): Command =>
  ({ robot: 'r1', verb: 'mode/set', state, because, answer: reason ? { reason } : undefined }) as unknown as Command;

test('commands that were not carried out are grouped by the reason of the robot', () => {
  const all = [
    command('REJECTED', 'the mode is busy: now', 'mode_busy'),
    command('REJECTED', 'the mode is busy: then', 'mode_busy'),
    command('UNDELIVERED', 'the robot was not there'),
    command('SUCCEEDED', 'the robot reports success'),
    command('RUNNING', 'the robot does it'),
  ];
  expect(notCarriedOut(all)).toEqual([
    { reason: 'REJECTED: mode_busy', code: 'mode_busy', text: 'the mode is busy: now', count: 2 },
    { reason: 'UNDELIVERED: the robot was not there', text: 'the robot was not there', count: 1 },
  ]);
  expect(all.filter((c) => groupOf(c) === 'REJECTED: mode_busy')).toHaveLength(2);
  expect(all.map(inProgress)).toEqual([false, false, false, false, true]);
});

test('the commands of one press of a button are together, in the order of their first', () => {
  const of = (id: string, batch?: string) => ({ ...command('SUCCEEDED', ''), id, batch }) as Command;
  const all = [of('5', 'b'), of('4', 'a'), of('3', 'b'), of('2'), of('1')];
  expect(presses(all).map((g) => g.map((c) => c.id))).toEqual([['5', '3'], ['4'], ['2'], ['1']]);
});
