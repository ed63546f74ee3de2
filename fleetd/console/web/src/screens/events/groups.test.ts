import { describe, expect, it } from 'vitest';

import { grouped, names } from './groups';

describe('events with one cause', () => {
  const rows = [
    { robot: 'r3', type: 'late', at: 100 },
    { robot: 'r1', type: 'booted', at: 99 },
    { robot: 'r2', type: 'late', at: 95 },
    { robot: 'r1', type: 'late', at: 90 },
    { robot: 'r1', type: 'late', at: 10 },
  ];
  it('are one line, until too much time lies between them', () => {
    const lines = grouped(
      rows,
      (e) => e.type,
      (e) => e.at,
      10,
    );
    expect(lines.map((g) => g.rows.map((e) => e.robot).join())).toEqual(['r3,r2,r1', 'r1', 'r1']);
    expect(new Set(lines.map((g) => g.key)).size).toBe(3);
  });
  it('have the names of their robots in a few words', () => {
    expect(names(['r3', 'r1', 'r2'])).toBe('r1-r3');
    expect(names(['r1', 'r2', 'lobby', 'r1'])).toBe('lobby, r1, r2');
    expect(names(['r8', 'r10', 'r9', 'r01'])).toBe('r8-r10, r01');
    expect(names(['a1', 'a3', 'a5', 'a7'], 2)).toBe('a1, a3 +2');
  });
});
