import { describe, expect, it } from 'vitest';

import { line, robotsOf, verbLine, whyAndExpect } from './commandline';

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
    expect(whyAndExpect(' a speech ', 2)).toEqual(['--expect=2', '--why=a speech']);
    expect(whyAndExpect('')).toEqual([]);
  });

  it('has the arguments of a command as flags', () => {
    expect([
      verbLine('mode/set', { mode: 'ato' }, ['r1']),
      verbLine('auto/continue', { token: undefined }, ['r1'], 'a speech'),
      verbLine('manual/goto', { x_m: 1.5, speed_mps: 0.2 }, ['r1']),
      verbLine('mode/param', { mode: 'ato', name: 'loop', value: [1] }, ['r1']),
    ]).toEqual([
      'fleetd mode set ato r1',
      `fleetd auto continue r1 '--why=a speech'`,
      'fleetd manual goto r1 --x-m=1.5 --speed-mps=0.2',
      `fleetd mode param r1 --mode=ato --name=loop '--value=[1]'`,
    ]);
  });
});
