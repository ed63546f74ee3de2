import { expect, test } from 'vitest';

import { listQuery, queryOf } from './query';

test('the list leaves out renewals of control unless they are asked for', () => {
  const without = 'command control/renew';
  expect(listQuery({ who: 'anna' }, false)).toEqual({ who: 'anna', without });
  expect(listQuery({ who: 'anna' }, true)).toEqual({ who: 'anna' });
  expect(listQuery({ what: 'renew' }, false)).toEqual({ what: 'renew' });
});

test('times of the filter get a zone', () => {
  expect(queryOf({ since: '2026-11-28T09:30Z' })).toEqual({ since: '2026-11-28T09:30:00.000Z' });
});
