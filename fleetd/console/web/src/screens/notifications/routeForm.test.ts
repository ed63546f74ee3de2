import { describe, expect, it } from 'vitest';

import type { Route } from './api';
import { bodyOf, formOf } from './routeForm';

describe('the form of a route', () => {
  it('saves what it was filled with from a route', () => {
    const route = {
      id: 'night',
      open: 0,
      receiver: 'phones',
      alerts: ['robot_lost'],
      events: ['act_failed'],
      level: 'error',
      sites: ['berlin'],
      quiet: {
        zone: 'Europe/Berlin',
        windows: [{ span: '22:00-07:00' }, { days: ['sat', 'sun'], span: '00:00-24:00' }],
        through: 'critical',
      },
      group_s: 30,
      repeat_s: 600,
      resolved: false,
      escalate: { receiver: 'crew', after_s: 300 },
      enabled: false,
    } as Route;
    const { id: _id, open: _open, ...body } = route;
    expect(bodyOf(formOf(route, ''))).toEqual(body);
  });
  it('leaves out what a new one does not say', () => {
    expect(bodyOf(formOf(undefined, 'phones'))).toEqual({
      receiver: 'phones',
      group_s: 60,
      repeat_s: 14400,
      resolved: true,
    });
  });
});
