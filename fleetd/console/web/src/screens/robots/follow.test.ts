import { notifications, notificationsStore } from '@mantine/notifications';
import { beforeEach, expect, test, vi } from 'vitest';

import type { Batch } from '../../api/client';
import { toast } from '../../shell/toast';
import { follow } from './follow';

vi.mock('../../api/client', () => ({ api: {}, data: () => undefined }));
vi.mock('../../text/language', () => ({ texts: (en: object) => Object.assign(() => en, { now: () => en }) }));

const titles = () => notificationsStore.getState().notifications.map((n) => n.title);
const batch = (id: string, ...robots: string[]) =>
  ({
    id,
    total: robots.length,
    outcome: 'done',
    commands: robots.map((robot) => ({ robot, state: 'SUCCEEDED' })),
  }) as unknown as Batch;

beforeEach(() => notifications.clean());

test('what became of a command to robots replaces the older messages about each of them', async () => {
  toast({ title: 'r1 is stopped', message: '' }, ['r1']);
  toast({ title: 'r3 is stopped', message: '' }, ['r3']);
  await follow(batch('b1', 'r1', 'r2'), 'Enable');
  expect(titles()).toEqual(['r3 is stopped', 'Enable: done by 2 robots']);
  await follow(batch('b2', 'r2'), 'Pause');
  expect(titles()).toEqual(['r3 is stopped', 'Pause: done']);
});
