import type { Robot } from '../../api/client';
import { obeysAnother } from '../../live/report';

/** What is assigned. With none, it is taken away from the robots. */
export type What =
  | { kind: 'story'; story: string; rev: number; apply: 'next_act' | 'now' | 'next_start'; none?: boolean }
  | { kind: 'back'; of?: 'config' | 'mode' | 'places' }
  | { kind: 'activities'; ids: string[]; none?: boolean }
  | { kind: 'mode'; mode: string; now: boolean }
  | { kind: 'settings'; key: string; value: string; none?: boolean }
  | { kind: 'places'; id: string; text: string; none?: boolean };

/** What a request does to one robot. */
export interface Line {
  robot: string;
  changes: boolean;
  /** What it has; undefined if that is not known. */
  now?: string;
  /** What it gets. */
  then: string;
  /** Why it keeps what it has, or what it will leave out. */
  note?: string;
  /** What people will notice, such as a mixture of languages. */
  hint?: string;
}

/** A request that gives some robots back what they had. */
export interface Revert {
  what: What;
  robots: string[];
}

/** What a request did, or would do. */
export interface Outcome {
  total: number;
  lines: Line[];
  /** What reverts it. fleetd knows what each robot had, but for activities, which are assigned again. */
  back: Revert[];
}

export const changing = (o: Outcome): Line[] => o.lines.filter((l) => l.changes);

/** A value as a person writes it: JSON if it is, otherwise a text. */
export function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Whether enough was chosen to ask fleetd. */
export function complete(w: What): boolean {
  switch (w.kind) {
    case 'story':
      return !!w.none || w.story !== '';
    case 'activities':
      return !!w.none || w.ids.length > 0;
    case 'settings':
      return w.key.trim() !== '' && (!!w.none || w.value.trim() !== '');
    case 'places':
      return !!w.none || (typeof valueOf(w.text) === 'object' && valueOf(w.text) !== null);
    default:
      return true;
  }
}

export const storyText = (s?: { id?: string; rev?: number } | null): string => (s?.id ? `${s.id} ${s.rev}` : '–');
export const activitiesText = (all?: { id: string; rev: number }[] | null): string =>
  all?.length ? all.map((a) => `${a.id} ${a.rev}`).join(', ') : '–';

/** A text of storyText or activitiesText with the names for people. */
export const namedIn = (text: string, name: (id: string) => string): string =>
  text
    .split(', ')
    .map((one) => one.replace(/^(\S+)(?= \d+$)/, (id) => name(id)))
    .join(', ');

/**
 * A number for query keys: another one after a change of what robots are asked to have, and again when they have it, since
 * the stream then leaves out desired_rev of a story. A change between two rows may be missed, so queries also repeat by themselves.
 */
export const revisionsOf = (fleet: readonly Robot[]): number =>
  fleet.reduce((n, r) => n + (r.desired.desired_rev ?? 0) + (r.activities?.desired_rev ?? 0), fleet.length);

/** What a robot reports about what was assigned to it. */
export interface Report {
  /** What fleetd wants of it now: the content, or the revision of the document. */
  requested: string;
  /** How far it is, in the contract's term. */
  phase: string;
  outcome: 'undecided' | 'accepted' | 'refused';
  /** It has it, and begins with it at the moment that was assigned with it. */
  later?: boolean;
  detail: string;
}

/** Phases of a story or activities that the robot has, but does not perform yet. */
const begins = ['staged', 'waiting', 'activating'];
const failed = ['rejected', 'rolled_back', 'failed'];

/** The report about the story or the activities, which a robot's summary has. */
export function reportOf(kind: What['kind'], r: Robot): Report {
  const d = kind === 'activities' ? r.activities : r.desired;
  const requested = kind === 'activities' ? activitiesText(r.activities?.assigned) : storyText(r.desired.story);
  if (!d) return { requested, phase: '', outcome: 'undecided', detail: '' };
  if (obeysAnother(d)) return { requested, phase: '', outcome: 'refused', detail: 'wrong_fleet' };
  const left = (kind === 'activities' && r.activities?.refused) || [];
  const detail = [
    [d.reason, d.detail].filter(Boolean).join(': '),
    ...left.map((p) => `${p.id}: ${p.detail || p.reason}`),
  ].filter(Boolean);
  const refused = left.length > 0 || (d.reported_rev === d.desired_rev && failed.includes(d.phase ?? ''));
  return {
    requested,
    phase: d.phase || (d.converged ? 'active' : ''),
    outcome: refused ? 'refused' : d.converged ? 'accepted' : 'undecided',
    later:
      (!refused && !d.converged && d.reported_rev === d.desired_rev && begins.includes(d.phase ?? '')) || undefined,
    detail: detail.join('; '),
  };
}

/**
 * How far a robot is. Replaced: it has been assigned something else since. Accepted: it has it on
 * its disk and begins with it later.
 */
export type Step = 'refused' | 'waiting' | 'away' | 'replaced' | 'accepted' | 'has';
export const steps: Step[] = ['refused', 'waiting', 'away', 'replaced', 'accepted', 'has'];

export function stepOf(report: Report | undefined, replaced: boolean, r: Robot | undefined): Step {
  if (replaced) return 'replaced';
  if (report?.later) return 'accepted';
  if (report && report.outcome !== 'undecided') return report.outcome === 'accepted' ? 'has' : 'refused';
  return r && ['online', 'degraded'].includes(r.presence.status) ? 'waiting' : 'away';
}

/** How far a robot is, in words. A story that was assigned for its next start begins then. */
export function stepText(
  words: { steps: Record<Step, string>; acceptedNextStart: string },
  step: Step,
  what?: What,
): string {
  const nextStart = what?.kind === 'story' && what.apply === 'next_start';
  return step === 'accepted' && nextStart ? words.acceptedNextStart : words.steps[step];
}

/** Groups robots by a text; robots without one are left out. */
export function grouped(all: readonly (readonly [text: string | undefined, robot: string])[]): [string, string[]][] {
  const out = new Map<string, string[]>();
  for (const [text, robot] of all) if (text) out.set(text, [...(out.get(text) ?? []), robot]);
  return [...out];
}
