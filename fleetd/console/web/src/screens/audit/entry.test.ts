import { expect, test } from 'vitest';

import { type Entry, modeOf, presses, saidBy } from './entry';

const states = { SUCCEEDED: 'done', REJECTED: 'refused by the robot', EXPIRED: 'too old when it was to begin' };
const entry = (e: Partial<Entry>) => ({ via: 'web', outcome: 'done', what: 'label', ...e }) as Entry;
const said = (e: Partial<Entry>) => saidBy(entry(e), states);

test('the reason that a person gave, the end and the change are apart', () => {
  expect(said({ why: 'moved', detail: 'hall=b' })).toEqual({ why: 'moved', ended: '', changed: 'hall=b' });
  expect(said({ outcome: 'refused', why: 'there is no story a', detail: 'answered 404' })).toEqual({
    why: '',
    ended: 'there is no story a',
    changed: '',
  });
  expect(
    said({ outcome: 'refused', why: 'too many', detail: 'answered 409; the reason given was: the last guests' }),
  ).toEqual({ why: 'the last guests', ended: 'too many', changed: '' });
  expect(
    said({ outcome: 'refused', what: 'sign in', why: 'no group gives a role', detail: 'the subject is 7' }),
  ).toEqual({ why: '', ended: 'no group gives a role', changed: 'the subject is 7' });
});

test('the end of a command is no reason, and its states are said in words', () => {
  const ended = (detail: string) => said({ what: 'command auto/pause', via: 'fleetd', of: 'a', detail });
  expect(ended('SUCCEEDED: no pause is left')).toEqual({
    why: '',
    ended: 'no pause is left',
    changed: '',
  });
  expect(ended('SUCCEEDED: the robot reports success').ended).toBe('');
  expect(ended('REJECTED').ended).toBe('');
  expect(ended('EXPIRED: the robot was not online').ended).toBe(
    'too old when it was to begin: the robot was not online',
  );
  expect(ended('4 SUCCEEDED: done; it moves; 1 REJECTED: A STOP holds it').ended).toBe(
    '4 done: done; it moves; 1 refused by the robot: A STOP holds it',
  );
  expect(ended('5 SUCCEEDED: the robot reports success; 1 REJECTED').ended).toBe('5 done; 1 refused by the robot');
  expect(ended('none of these robots belongs to the fleet').ended).toBe('none of these robots belongs to the fleet');
});

test('a command has its arguments, and a switch of the mode its mode', () => {
  const say = entry({ what: 'command manual/say', after: '{"text":"hello","why":"a test","loud":{"db":3}}' });
  expect(saidBy(say, states).changed).toBe('text: hello, loud: {"db":3}');
  expect(modeOf(say)).toBe('');
  expect(modeOf(entry({ what: 'command mode/set', after: '{"mode":"mnl","why":"a test"}' }))).toBe('mnl');
  for (const detail of ['mnl', '"mnl"', '{"id":"1","args":{"mode":"mnl"}}', '{"mode":"mnl"}'])
    expect(modeOf(entry({ what: 'command mode/set', via: 'mqtt', detail }))).toBe('mnl');
  expect(said({ what: 'command mode/set', via: 'mqtt', detail: 'mnl' }).changed).toBe('');
  expect(said({ what: 'command auto/pause', via: 'mqtt', detail: 'not JSON' }).changed).toBe('not JSON');
  for (const detail of ['', '{', '[]', '{"mode":7}', '{"args":"mnl"}', 'not a mode'])
    expect(modeOf(entry({ what: 'command mode/set', via: 'mqtt', detail }))).toBe('');
  expect(modeOf(entry({ what: 'command mode/set', of: 'a', via: 'fleetd', detail: 'SUCCEEDED' }))).toBe('');
});

test('a request and how it ended are one row; an end whose request is not listed is a row of its own', () => {
  const all = [
    entry({ id: '5', of: '2', outcome: 'done' }),
    entry({ id: '4', of: '1', outcome: 'refused' }),
    entry({ id: '3', of: '2', outcome: 'failed' }),
    entry({ id: '2', outcome: 'accepted' }),
  ];
  expect(presses(all).map((p) => [p.entry.id, p.end?.id])).toEqual([
    ['4', undefined],
    ['2', '3'],
  ]);
});

test('of several ends a row has the worst, and of those that are alike the newest, and how many are done', () => {
  const ends = (...outcomes: Entry['outcome'][]) => {
    const all = outcomes.map((outcome, i) => entry({ id: `e${i}`, of: 'a', outcome }));
    const [press] = presses([...all, entry({ id: 'a', outcome: 'accepted' })]);
    return [press!.end?.id, press!.done, press!.ends];
  };
  expect(ends('done', 'refused', 'done')).toEqual(['e1', 2, 3]);
  expect(ends('partly', 'failed', 'refused')).toEqual(['e1', 0, 3]);
  expect(ends('done', 'done')).toEqual(['e0', 2, 2]);
  expect(ends()).toEqual([undefined, 0, 0]);
});
