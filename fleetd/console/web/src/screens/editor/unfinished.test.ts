import { describe, expect, it } from 'vitest';

import { isDraftAct, isTodo, isUnfinished, isWrong } from './unfinished';

describe('a problem of a draft', () => {
  it.each([
    ['story_empty', 'error', 'unfinished'],
    ['zero_length', 'error', 'unfinished'],
    ['missing', 'error', 'unfinished'],
    ['act_not_published', 'error', 'draft'],
    ['zero_length', 'warning', ''],
    ['overlap', 'error', 'wrong'],
    ['unknown_act', 'error', 'wrong'],
    ['no_cooldown', 'warning', ''],
  ])('%s as %s is %s', (code, severity, is) => {
    const p = { code, severity };
    expect([isUnfinished(p), isDraftAct(p), isTodo(p), isWrong(p)]).toEqual([
      is === 'unfinished',
      is === 'draft',
      is === 'unfinished' || is === 'draft',
      is === 'wrong',
    ]);
  });
});
