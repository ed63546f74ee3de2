import { expect, test } from 'vitest';

import { Latency } from './latency';

test('the latency is that of the newest echo, with the way to the robot', () => {
  const l = new Latency();
  l.frame(1000);
  l.echo(1000, 30, 1040);
  expect(l.toFleetd(1045)).toBe(40);
  expect(l.total(1045)).toBe(70);
});

test('an echo that is missing counts as long as it is missing', () => {
  const l = new Latency();
  l.frame(1000);
  l.echo(1000, 0, 1020);
  l.frame(1050);
  l.frame(1100);
  expect(l.toFleetd(1060)).toBe(20);
  expect(l.toFleetd(1900)).toBe(850);
  l.echo(1050, 0, 1900);
  expect(l.toFleetd(1900)).toBe(850);
  l.echo(1100, 0, 1910);
  expect(l.toFleetd(1920)).toBe(810);
  l.frame(1950);
  l.echo(1950, 0, 1960);
  expect(l.toFleetd(1970)).toBe(10);
});
