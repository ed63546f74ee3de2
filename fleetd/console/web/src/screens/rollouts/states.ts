import type { Plan, RobotState, State, Wave, WaveState } from './types';

/** What a state means for a person who looks at a bar: the parts that it has. */
export type Part = 'has' | 'back' | 'watched' | 'underway' | 'failed' | 'out' | 'waiting';

/** The parts of a bar, from its start. */
export const parts: readonly Part[] = ['has', 'back', 'watched', 'underway', 'failed', 'out', 'waiting'];

export const partOf: Record<RobotState, Part> = {
  CONFIRMED: 'has',
  UNCHANGED: 'has',
  RESTORED: 'back',
  ACTIVE: 'watched',
  OFFERED: 'underway',
  RESTORING: 'underway',
  REJECTED: 'failed',
  FAILED: 'failed',
  TIMED_OUT: 'failed',
  REVERTED: 'failed',
  SILENT: 'failed',
  NOT_RESTORED: 'failed',
  SUPERSEDED: 'out',
  CANCELLED: 'out',
  EXPIRED_OFFLINE: 'out',
  DECOMMISSIONED: 'out',
  PINNED: 'out',
  LEFT_OUT: 'out',
  PLANNED: 'waiting',
  DEFERRED: 'waiting',
  WAITING_OFFLINE: 'waiting',
};

export type Counts = Record<string, number>;

/** A part of a bar with its robots, by their states. */
export interface Segment {
  part: Part;
  count: number;
  states: [RobotState, number][];
}

/** The parts of a bar that have a robot, in order. */
export function segments(counts: Counts): Segment[] {
  return parts
    .map((part) => {
      const states = (Object.entries(counts) as [RobotState, number][]).filter(([s, n]) => n > 0 && partOf[s] === part);
      return { part, states, count: states.reduce((sum, [, n]) => sum + n, 0) };
    })
    .filter((s) => s.count > 0);
}

/** How many robots are in one of these parts. */
export const inParts = (counts: Counts, ...of: Part[]): number =>
  segments(counts)
    .filter((s) => of.includes(s.part))
    .reduce((sum, s) => sum + s.count, 0);

/**
 * How many robots of a wave have the content, and how many have to. Robots that keep what they have, those that had it
 * already, those that are not reachable and failures that a person accepted do not count.
 */
export function gateCount(w: Pick<Wave, 'counts' | 'total' | 'gate'>): { done: number; needed: number } {
  const of = (s: RobotState) => w.counts[s] ?? 0;
  const reachable =
    w.total - inParts(w.counts, 'out') - of('UNCHANGED') - of('WAITING_OFFLINE') - (w.gate.accepted_failures ?? 0);
  const part = Math.ceil((reachable * w.gate.success_percent) / 100);
  return { done: of('ACTIVE') + of('CONFIRMED'), needed: w.gate.success_percent > 0 ? Math.max(1, part) : 0 };
}

const ended: readonly State[] = [
  'SUCCEEDED',
  'COMPLETED_WITH_FAILURES',
  'ABORTED',
  'ROLLED_BACK',
  'ROLLBACK_INCOMPLETE',
];

/** Whether something may still happen by itself, or waits for a person. */
export const isOpen = (s: State): boolean => !ended.includes(s);

/** Open rollouts first; the order is otherwise that of fleetd, the newest first. */
export function openFirst<R extends { state: State }>(all: readonly R[]): R[] {
  return [...all.filter((r) => isOpen(r.state)), ...all.filter((r) => !isOpen(r.state))];
}

/** In which wave a rollout is, or how many it has, if it has not begun or has ended. */
export function wavesText(
  r: { state: State; wave: number; wave_count: number; started_at?: string },
  t: { atOnce: string; waveOf: (n: number, of: number) => string; wavesN: (n: number) => string },
): string {
  if (r.wave_count <= 1) return t.atOnce;
  return r.started_at && isOpen(r.state)
    ? t.waveOf(Math.min(r.wave + 1, r.wave_count), r.wave_count)
    : t.wavesN(r.wave_count);
}

/** Colour of a state; its word says the same. */
export const stateColor: Record<State, string> = {
  DRAFT: 'gray',
  WAITING_FOR_APPROVAL: 'yellow',
  READY: 'blue',
  SCHEDULED: 'blue',
  RUNNING: 'blue',
  PAUSED: 'yellow',
  SUCCEEDED: 'green',
  COMPLETED_WITH_FAILURES: 'orange',
  ABORTED: 'gray',
  ROLLING_BACK: 'violet',
  ROLLED_BACK: 'violet',
  ROLLBACK_INCOMPLETE: 'red',
};

export const waveColor: Record<WaveState, string> = {
  PLANNED: 'gray',
  RUNNING: 'blue',
  SOAKING: 'teal',
  PASSED: 'green',
  FAILED: 'red',
  INCONCLUSIVE: 'yellow',
  SKIPPED: 'gray',
};

/** Above this many robots, a person types their number. */
export const typed = 50;

/** What a person can decide about a rollout that exists, besides its approval. */
export type Decision = 'start' | 'pause' | 'resume' | 'retry' | 'abort' | 'rollback';

const offered: readonly RobotState[] = [
  'OFFERED',
  'ACTIVE',
  'CONFIRMED',
  'REJECTED',
  'FAILED',
  'TIMED_OUT',
  'REVERTED',
  'SILENT',
  'NOT_RESTORED',
];

/** How many robots a decision is about. */
export function affected(d: Decision, counts: Counts): number {
  const of = (...states: readonly RobotState[]) => states.reduce((n, s) => n + (counts[s] ?? 0), 0);
  switch (d) {
    case 'rollback':
      return of(...offered);
    case 'retry':
      return of('REJECTED', 'FAILED', 'TIMED_OUT', 'REVERTED', 'SILENT');
    default:
      return of('PLANNED', 'DEFERRED', 'WAITING_OFFLINE');
  }
}

/** A length of time in the largest units that matter: 90 s, 12 min, 3 h 5 min. */
export function lengthOf(s: number, units: { s: string; min: string; h: string; d: string }): string {
  const whole = Math.max(0, Math.round(s));
  if (whole < 120) return `${whole} ${units.s}`;
  const min = Math.round(whole / 60);
  if (min < 60) return `${min} ${units.min}`;
  const pair = (big: number, small: number, of: number, bigUnit: string, smallUnit: string) =>
    small % of ? `${big} ${bigUnit} ${small % of} ${smallUnit}` : `${big} ${bigUnit}`;
  if (min < 48 * 60) return pair(Math.floor(min / 60), min, 60, units.h, units.min);
  const h = Math.round(min / 60);
  return pair(Math.floor(h / 24), h, 24, units.d, units.h);
}

/** A wave in the picture of a plan: which part of all robots it and the waves before it have. */
export interface Step {
  /** Percent of all robots that earlier waves have. */
  before: number;
  /** Percent of all robots, without those that would refuse. */
  here: number;
  /** Percent of all robots that would refuse the content. */
  refused: number;
}

/** The steps of the stairs that the waves of a plan are. A wave with a robot can always be seen. */
export function stairs(waves: Plan['waves']): Step[] {
  const total = waves.reduce((n, w) => n + w.total, 0) || 1;
  let before = 0;
  return waves.map((w) => {
    const step = {
      before: (100 * before) / total,
      here: (100 * (w.total - w.refused)) / total,
      refused: (100 * w.refused) / total,
    };
    before += w.total;
    return step;
  });
}

/** Groups rows by a key, the largest group first. */
export function groupsBy<R>(rows: readonly R[], key: (r: R) => string): [string, R[]][] {
  const out = new Map<string, R[]>();
  for (const r of rows) out.set(key(r), [...(out.get(key(r)) ?? []), r]);
  return [...out].sort((a, b) => b[1].length - a[1].length);
}
