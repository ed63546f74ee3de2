import { expect, it } from 'vitest';

import { context, diff, lines } from './diff';

it('writes a value as lines', () => {
  expect(lines({ act: 'a', name: { en: 'A: b' }, actions: [{ type: 'wait', end_ms: 5 }, { type: 'face' }] })).toEqual([
    'act: a',
    'name:',
    '  en: "A: b"',
    'actions:',
    '  - type: wait',
    '    end_ms: 5',
    '  - type: face',
  ]);
});

it('names only what was removed and added', () => {
  const changes = diff(['a', 'b', 'c', 'd'], ['a', 'c', 'x', 'd']).map((l) => l.change + l.text);
  expect(changes).toEqual([' a', '-b', ' c', '+x', ' d']);
  expect(diff(['a'], ['a']).every((l) => l.change === ' ')).toBe(true);
  expect(diff([], ['a'])).toEqual([{ change: '+', text: 'a' }]);
});

it('leaves out what is far from every change', () => {
  const all = diff(['1', '2', '3', '4', '5', '6'], ['1', '2', '3', '4', '5', 'x']);
  expect(context(all, 1).map((l) => l?.text ?? '…')).toEqual(['5', '6', 'x']);
});
