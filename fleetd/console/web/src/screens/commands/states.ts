import type { Schemas } from '../../api/client';

export type Command = Schemas['Command'];

const open = ['QUEUED', 'SENT', 'ACKED', 'RUNNING', 'UNKNOWN'];

/** Whether a command may still change, and so can be cancelled. */
export const inProgress = (c: Command): boolean => open.includes(c.state ?? '');

/** Commands by the press of a button that sent them, in the order of their first. */
export function presses(commands: readonly Command[]): Command[][] {
  const by = new Map<string, Command[]>();
  for (const c of commands) {
    const key = c.batch || c.id || '';
    const of = by.get(key);
    if (of) of.push(c);
    else by.set(key, [c]);
  }
  return [...by.values()];
}

/** Color of a state; its word says the same. */
export const stateColor: Record<string, string> = {
  SUCCEEDED: 'green',
  FAILED: 'red',
  REJECTED: 'orange',
  UNDELIVERED: 'orange',
  EXPIRED: 'orange',
  UNKNOWN: 'yellow',
  QUEUED: 'blue',
  SENT: 'blue',
  ACKED: 'blue',
  RUNNING: 'blue',
};

/** Why a command is in its state, unless that says no more than the state does. */
export const becauseOf = (c: Command): string => (c.because === 'the robot reports success' ? '' : (c.because ?? ''));

/** The reason of the robot if it gave one, or else why the command is in its state. */
export const reasonOf = (c: Command): string => c.answer?.reason || c.because || '';

interface NotCarriedOut {
  /** The key of the group. */
  reason: string;
  /** The reason of the robot, if it gave one. */
  code?: string;
  text: string;
  count: number;
}

/** Commands that were not carried out, counted by their reason, the most frequent first. */
export function notCarriedOut(commands: readonly Command[]): NotCarriedOut[] {
  const by = new Map<string, NotCarriedOut>();
  for (const c of commands) {
    if (inProgress(c) || c.state === 'SUCCEEDED') continue;
    const reason = `${c.state}: ${reasonOf(c)}`;
    const one = by.get(reason) ?? { reason, code: c.answer?.reason, text: c.because || reason, count: 0 };
    one.count++;
    by.set(reason, one);
  }
  return [...by.values()].sort((a, b) => b.count - a.count || a.reason.localeCompare(b.reason));
}

/** The key by which notCarriedOut groups a command. */
export const groupOf = (c: Command): string => `${c.state}: ${reasonOf(c)}`;
