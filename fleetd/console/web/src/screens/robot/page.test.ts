import { expect, test, vi } from 'vitest';

import type { Robot } from '../../api/client';
import { staleOf } from './page';

vi.mock('../../api/client', () => ({}));

const online = { presence: { status: 'online' } } as Robot;
const offline = { presence: { status: 'offline' } } as Robot;

test('what is shown of a robot is current only while the page is connected', () => {
  expect(staleOf(online, 'live', true)).toBeUndefined();
  expect(staleOf(online, 'connecting', true)).toBe('page'); // after the tab was hidden
  expect(staleOf(online, 'lost', true)).toBe('page');
  expect(staleOf(undefined, 'connecting', true)).toBeUndefined(); // the first robots are on their way
  expect(staleOf(offline, 'live', true)).toBe('robot');
  expect(staleOf(offline, 'live', false)).toBe('broker');
});
