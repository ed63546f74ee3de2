import type { Robot } from '../../api/client';
import { toneOf, type Tone } from '../../live/performing';
import { storyStateOf } from '../robots/filter';

/** How many robots there are of each kind. */
export interface Counts {
  total: number;
  tones: Record<Tone, number>;
  presence: Map<string, number>;
  modes: Map<string, number>;
  paused: number;
  noStory: number;
  refused: number;
  pending: number;
  /** Of the robots that are connected, sorted. */
  roundTrips: number[];
}

/** Counts in one pass: it is done once a second, over the whole fleet. */
export function count(fleet: readonly Robot[]): Counts {
  const c: Counts = {
    total: fleet.length,
    tones: { good: 0, waiting: 0, attention: 0, stopped: 0, away: 0 },
    presence: new Map(),
    modes: new Map(),
    paused: 0,
    noStory: 0,
    refused: 0,
    pending: 0,
    roundTrips: [],
  };
  const add = (m: Map<string, number>, key: string) => m.set(key, (m.get(key) ?? 0) + 1);
  for (const r of fleet) {
    c.tones[toneOf(r)]++;
    add(c.presence, r.presence.status);
    if (r.mode) add(c.modes, r.mode);
    if (r.doing === 'paused' || r.doing === 'paused_by_safety') c.paused++;
    const story = storyStateOf(r);
    if (story === 'none') c.noStory++;
    else if (story === 'refused') c.refused++;
    else if (story === 'pending') c.pending++;
    if (r.presence.round_trip_ms) c.roundTrips.push(r.presence.round_trip_ms);
  }
  c.roundTrips.sort((a, b) => a - b);
  return c;
}

/** The value below which that part of a sorted list lies; undefined if it is empty. */
export function quantile(sorted: readonly number[], part: number): number | undefined {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
}
