import type { Robot } from '../../api/client';

/** What is assigned. */
export type What =
  | { kind: 'story'; story: string; rev: number; apply: 'next_act' | 'now' | 'next_start' }
  | { kind: 'back' }
  | { kind: 'mode'; mode: string; now: boolean }
  | { kind: 'settings'; key: string; value: string }
  | { kind: 'places'; id: string; text: string };

/** What a request did, or would do. */
export interface Outcome {
  total: number;
  updated: string[];
  unchanged: number;
  /** Robots by the reason for which they are left out, or warned of. */
  reasons: [string, string[]][];
}

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
      return w.story !== '';
    case 'settings':
      return w.key.trim() !== '' && w.value.trim() !== '';
    case 'places':
      return typeof valueOf(w.text) === 'object' && valueOf(w.text) !== null;
    default:
      return true;
  }
}

/** How far a robot is with the story that was assigned to it. */
export type Step = 'has' | 'refused' | 'waiting' | 'away';

export function stepOf(r: Robot | undefined): Step {
  if (!r) return 'away';
  const d = r.desired;
  if (d.converged) return 'has';
  if (d.reported_rev === d.desired_rev && (d.phase === 'rejected' || d.phase === 'rolled_back' || d.phase === 'failed'))
    return 'refused';
  return r.presence.view === 'online' || r.presence.view === 'degraded' ? 'waiting' : 'away';
}

/** Groups robots that refused by their reason. */
export function reasonsOf(robots: (Robot | undefined)[]): [string, string[]][] {
  const out = new Map<string, string[]>();
  for (const r of robots) {
    if (!r || stepOf(r) !== 'refused') continue;
    const why = r.desired.detail || r.desired.reason || r.desired.phase || '';
    out.set(why, [...(out.get(why) ?? []), r.id]);
  }
  return [...out];
}
