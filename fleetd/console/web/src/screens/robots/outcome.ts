import type { Batch } from '../../api/client';
import { aboutAnswer } from '../../text/answers';
import { reasonText, useReasonTexts } from '../../text/reasons';

/** Robots that did not do what was sent, for one reason. */
export interface NotDone {
  /** A state of commands, or SKIPPED. */
  state: string;
  because: string;
  robots: string[];
}

/** What became of a command to several robots. */
export interface Progress {
  total: number;
  done: number;
  /** Robots that have not answered yet. */
  open: number;
  /** The others by reason, the most frequent first. */
  not: NotDone[];
}

const open = new Set(['QUEUED', 'SENT', 'ACKED', 'RUNNING']);

/** What became of a batch so far. fleetd says when no command of it can change any more. */
export function progressOf(b: Batch): Progress {
  const by = new Map<string, NotDone>();
  const add = (state: string, because: string, robot: string) => {
    const key = `${state} ${because}`;
    const one = by.get(key) ?? { state, because, robots: [] };
    one.robots.push(robot);
    by.set(key, one);
  };
  const words = useReasonTexts.now();
  const p: Progress = { total: b.total, done: 0, open: 0, not: [] };
  for (const c of b.commands) {
    const state = c.state ?? 'QUEUED';
    if (state === 'SUCCEEDED') p.done++;
    else if (open.has(state)) p.open++;
    else add(state, reasonText(words, c.answer?.reason, c.because || c.answer?.detail, aboutAnswer(c.answer)), c.robot);
  }
  for (const s of b.skipped ?? []) add('SKIPPED', reasonText(words, s.reason, s.detail), s.robot);
  p.not = [...by.values()].sort((x, y) => y.robots.length - x.robots.length);
  return p;
}

export const settled = (b: Batch): boolean => b.outcome !== undefined && b.outcome !== 'running';
