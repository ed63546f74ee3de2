import { describe, expect, it } from 'vitest';

import { robotsBy } from './robots';

describe('robots of an assignment in the audit', () => {
  it('are named by what they had', () => {
    expect(robotsBy('{"museum revision 1":["r1","r3","and 300 more"],"":["r2"]}')).toEqual([
      ['museum revision 1', 'r1, r3, and 300 more'],
      ['', 'r2'],
    ]);
  });
  it.each(['', '{}', '[]', 'null', '{"low_battery":0.3}', '{"a":[1]}', 'not JSON'])('are not in %s', (text) => {
    expect(robotsBy(text)).toBeUndefined();
  });
});
