import { expect, test, vi } from 'vitest';

vi.mock('../../api/client', () => ({}));
vi.mock('./page', () => ({}));
const { settingState, same } = await import('./settings');

const desired = { rev: 4, ts: '', values: { low_battery: 0.3, boot_mode: 'ato', languages: ['de'] } };
const reported = {
  desired_rev: 4,
  phase: 'active',
  applied: { low_battery: 0.3, languages: ['de'] },
  rejected: [{ key: 'boot_mode', reason: 'unknown_mode' }],
  restart_needed: ['languages'],
};

test('each setting says where it is from and how far it is', () => {
  expect(settingState('signing', desired, reported)).toBe('own');
  expect(settingState('low_battery', desired, reported)).toBe('applied');
  expect(settingState('boot_mode', desired, reported)).toBe('rejected');
  expect(settingState('languages', desired, reported)).toBe('restart');
  expect(settingState('low_battery', { ...desired, rev: 5, values: { low_battery: 0.1 } }, reported)).toBe('pending');
  expect(settingState('low_battery', desired, undefined)).toBe('pending');
});

test('the same revision of another fleet is no answer', () => {
  const [ours, theirs] = [
    { ...desired, fleet_id: 'a' },
    { ...reported, fleet_id: 'b' },
  ];
  for (const key of Object.keys(desired.values)) expect(settingState(key, ours, theirs)).toBe('otherFleet');
  expect(settingState('signing', ours, theirs)).toBe('own');
  expect(settingState('low_battery', ours, { ...reported, fleet_id: 'a' })).toBe('applied');
});

test('objects are the same whatever the order of their members', () => {
  expect(same({ a: 1, b: [2] }, { b: [2], a: 1 })).toBe(true);
  expect(same([1, 2], [2, 1])).toBe(false);
});
