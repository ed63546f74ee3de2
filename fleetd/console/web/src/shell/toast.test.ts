import { notifications, notificationsStore } from '@mantine/notifications';
import { beforeEach, expect, test } from 'vitest';

import { toast } from './toast';

const messages = () => notificationsStore.getState().notifications.map((n) => n.message);

beforeEach(() => notifications.clean());

test('a newer message about a robot replaces the older one', () => {
  toast({ message: 'r1 is enabled' }, ['r1']);
  toast({ message: 'r2 is enabled' }, ['r2']);
  toast({ message: 'draft saved' });
  toast({ message: 'r1 and r3 are stopped' }, ['r1', 'r3']);
  expect(messages()).toEqual(['r2 is enabled', 'draft saved', 'r1 and r3 are stopped']);
});

test('what became of a message takes its place, also when it has gone meanwhile', () => {
  toast({ id: 'a', message: 'sending' }, ['r1']);
  toast({ id: 'a', message: 'accepted' }, ['r1']);
  expect(messages()).toEqual(['accepted']);
  notifications.hide('a');
  toast({ id: 'a', message: 'failed' }, ['r1']);
  expect(messages()).toEqual(['failed']);
});
