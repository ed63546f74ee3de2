import { type NotificationData, notifications, notificationsStore } from '@mantine/notifications';

/** So many messages are shown at once; further ones wait. */
export const mostToasts = 3;

/** The robots of each message that is shown. */
const shown = new Map<string, ReadonlySet<string>>();
let made = 0;

/** Shows a message, or what became of it. It replaces the older ones about the same robots, which are no longer true. */
export function toast(message: NotificationData, about: Iterable<string> = []): void {
  const id = message.id ?? `toast-${++made}`;
  const robots = new Set(about);
  for (const [other, of] of shown) if (other !== id && [...robots].some((r) => of.has(r))) notifications.hide(other);
  if (robots.size > 0) shown.set(id, robots);
  const note = { ...message, id, onClose: () => void shown.delete(id) };
  notifications.update(note);
  notifications.show(note); // does nothing for one that is there
}

/** Ends the oldest message if another one would have to wait. */
export function makeRoom(): void {
  const all = notificationsStore.getState().notifications;
  if (all.length >= mostToasts) notifications.hide(all[0]!.id!);
}
