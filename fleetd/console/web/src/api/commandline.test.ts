import { describe, expect, it } from 'vitest';

import { line, robotsOf, signed } from './commandline';

describe('a command line', () => {
  it('quotes what a shell would read otherwise', () => {
    expect(line('stop', 'r1', false, "--why=don't; $(rm)")).toBe(`fleetd stop r1 '--why=don'\\''t; $(rm)'`);
  });

  it('selects the same robots', () => {
    expect(robotsOf({ all: true })).toEqual(['--all']);
    expect(robotsOf({ ids: ['r1', 'r2'] })).toEqual(['r1', 'r2']);
    expect(
      robotsOf({
        labels: [{ key: 'site', value: 'museum' }],
        doing: ['paused', 'disabled'],
        text: 'a b',
        modes: ['ato'],
      }),
    ).toEqual(['-l', 'site=museum', '--matching=a b', '--doing=paused,disabled', '--in-mode=ato']);
  });

  it('carries the reason and the number of robots', () => {
    expect(signed(' a speech ', 2)).toEqual(['--expect=2', '--why=a speech']);
    expect(signed('')).toEqual([]);
  });
});
