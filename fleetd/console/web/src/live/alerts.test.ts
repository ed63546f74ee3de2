import { expect, test, vi } from 'vitest';

vi.mock('../api/client', () => ({}));

import type { Robot } from '../api/client';
import { type RobotAlert, unacknowledged } from './alerts';

const alert = (id: string, first_ts: string) => ({ id, first_ts }) as Robot['alerts'][number];
const listed = (robot: string, id: string, first_ts: string, acknowledged?: object) =>
  ({ robot, id, first_ts, acknowledged }) as RobotAlert;

test('an alert counts until somebody acknowledges it, and again when it comes back', () => {
  const robots = [
    { id: 'r1', alerts: [alert('battery', '1'), alert('part', '2')] },
    { id: 'r2', alerts: [alert('part', '2')] },
    { id: 'r3', alerts: [] },
  ];
  const ids = (list: RobotAlert[]) => unacknowledged(robots, list).map((r) => [r.id, ...r.alerts.map((a) => a.id)]);
  expect(ids([])).toEqual([
    ['r1', 'battery', 'part'],
    ['r2', 'part'],
  ]);
  expect(ids([listed('r1', 'part', '2', {}), listed('r2', 'part', '2')])).toEqual([
    ['r1', 'battery'],
    ['r2', 'part'],
  ]);
  expect(ids([listed('r2', 'part', '1', {})])).toContainEqual(['r2', 'part']);
});
