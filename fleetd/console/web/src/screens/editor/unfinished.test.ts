import { describe, expect, it } from 'vitest';

import { isUnfinished, isWrong } from './unfinished';

describe('a problem of a draft', () => {
  it.each([
    ['story_empty', 'error', 'unfinished'],
    ['zero_length', 'error', 'unfinished'],
    ['missing', 'error', 'unfinished'],
    ['zero_length', 'warning', ''],
    ['overlap', 'error', 'wrong'],
    ['unknown_act', 'error', 'wrong'],
    ['no_cooldown', 'warning', ''],
  ])('%s as %s is %s', (code, severity, is) => {
    expect([isUnfinished({ code, severity }) && 'unfinished', isWrong({ code, severity }) && 'wrong']).toEqual([
      is === 'unfinished' ? is : false,
      is === 'wrong' ? is : false,
    ]);
  });
});
