import { expect, test } from 'vitest';

import { aboutOf, obeysAnother } from './report';

test('a revision is that of the fleet that numbered it', () => {
  const ours = { fleet_id: 'a', rev: 7 };
  expect(aboutOf(ours, undefined)).toBe('nothing');
  expect(aboutOf(ours, { fleet_id: 'a', desired_rev: 7 })).toBe('this');
  expect(aboutOf(ours, { fleet_id: 'a', desired_rev: 6 })).toBe('another');
  expect(aboutOf(ours, { desired_rev: 7 })).toBe('this'); // a robot that no fleet has adopted yet
  expect(aboutOf(ours, { fleet_id: 'b', desired_rev: 7 })).toBe('otherFleet');
  expect(aboutOf(ours, { desired_rev: 0, reason: 'wrong_fleet' })).toBe('otherFleet');
  // It obeys this fleet, and tells of a document of another one.
  expect(aboutOf(ours, { fleet_id: 'a', desired_rev: 7, reason: 'wrong_fleet' })).toBe('this');
});

test('fleetd says which robots obey another fleet', () => {
  expect(obeysAnother({ converged: false, reason: 'wrong_fleet' })).toBe(true);
  expect(obeysAnother({ converged: true, reason: 'wrong_fleet' })).toBe(false);
  expect(obeysAnother({ converged: false, reason: 'no_unit' })).toBe(false);
});
