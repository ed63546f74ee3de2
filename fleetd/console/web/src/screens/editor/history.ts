/** Undo and redo. Changes with the same tag that follow each other closely are undone as one. */
export interface History<T> {
  past: readonly T[];
  present: T;
  future: readonly T[];
  tag?: string;
  at: number;
}

/** ms within which changes of the same tag are one. */
const together = 1500;
const most = 200;

export const begin = <T>(present: T): History<T> => ({ past: [], present, future: [], at: 0 });

export function commit<T>(h: History<T>, next: T, now: number, tag?: string): History<T> {
  if (next === h.present) return h;
  if (tag && tag === h.tag && now - h.at < together) return { ...h, present: next, future: [], at: now };
  return { past: [...h.past.slice(-most), h.present], present: next, future: [], tag, at: now };
}

export function undo<T>(h: History<T>): History<T> {
  const previous = h.past[h.past.length - 1];
  if (previous === undefined) return h;
  return { past: h.past.slice(0, -1), present: previous, future: [h.present, ...h.future], at: 0 };
}

export function redo<T>(h: History<T>): History<T> {
  const next = h.future[0];
  if (next === undefined) return h;
  return { past: [...h.past, h.present], present: next, future: h.future.slice(1), at: 0 };
}
