import { expect, it, vi } from 'vitest';

import { assign } from './request';

const POST = vi.fn();
vi.mock('../../text/language', () => ({ texts: (en: object) => ({ now: () => en }) }));
vi.mock('../../api/client', () => ({
  api: { POST: (...a: unknown[]) => POST(...a) as unknown },
  data: (x: unknown) => x,
}));

const now = { dry: false, expected: 2, why: '' } as const;

it('a setting is reverted by fleetd, which knows what each robot had', async () => {
  const was = [{ value: { low_battery: 0.25 }, robots: ['r1'] }, { robots: ['r2'] }];
  POST.mockReturnValue({ total: 2, updated: ['r1', 'r2'], unchanged: [], was });
  const o = await assign({ kind: 'settings', key: 'low_battery', value: '0.35' }, { all: true }, now, []);
  expect(o.lines.map((l) => [l.robot, l.now, l.then])).toEqual([
    ['r1', 'low_battery = 0.25', 'low_battery = 0.35'],
    ['r2', 'low_battery not set', 'low_battery = 0.35'],
  ]);
  expect(o.back).toEqual([{ what: { kind: 'back', of: 'config' }, robots: ['r1', 'r2'] }]);
});

it('places of the same name are reverted too', async () => {
  const was = [{ value: { places: { id: 'hall', rev: 1, sha256: 'ab' } }, robots: ['r1'] }];
  POST.mockReturnValue({ total: 1, updated: ['r1'], unchanged: [], was });
  const o = await assign({ kind: 'places', id: 'hall', text: '{}' }, { all: true }, now, []);
  expect(o.back).toEqual([{ what: { kind: 'back', of: 'places' }, robots: ['r1'] }]);
});

it('a robot that is given its mode again has nothing to revert', async () => {
  const was = [
    { value: { mode: 'ato', apply: 'now' }, robots: ['r1'] },
    { value: { mode: 'mnl', apply: 'boot' }, robots: ['r2'] },
  ];
  POST.mockReturnValue({ total: 2, updated: ['r1', 'r2'], unchanged: [], was });
  const o = await assign({ kind: 'mode', mode: 'ato', now: true }, { all: true }, now, []);
  expect(o.back).toEqual([{ what: { kind: 'back', of: 'mode' }, robots: ['r2'] }]);
});
