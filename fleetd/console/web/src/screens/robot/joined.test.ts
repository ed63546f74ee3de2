import { expect, test } from 'vitest';

import type { Detail, Robot } from '../../api/client';
import { joined } from './joined';

test('alerts are those of the row, which is newer than the documents; the newest event is in the documents only', () => {
  const row = { id: 'r1', alerts: [], presence: { status: 'online' } } as unknown as Robot;
  const detail = { ...row, alerts: [{ id: 'battery_low' }], last_event: { type: 'boot' } } as unknown as Detail;
  expect(joined(row, detail)).toMatchObject({ alerts: [], last_event: { type: 'boot' } });
});
