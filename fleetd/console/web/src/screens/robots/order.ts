import type { Robot } from '../../api/client';
import { toneOf, type Tone } from '../../live/performing';

export type SortColumn =
  | 'problems'
  | 'name'
  | 'doing'
  | 'presence'
  | 'mode'
  | 'story'
  | 'interrupts'
  | 'alerts'
  | 'site'
  | 'control'
  | 'roundTrip';

export interface Sorting {
  column: SortColumn;
  desc: boolean;
}

const byTone: Record<Tone, number> = { stopped: 0, attention: 1, away: 2, waiting: 4, good: 5 };
const byPresence: Record<string, number> = { lost: 0, degraded: 1, unknown: 2, offline: 3, sleeping: 4, online: 5 };

/** How much a robot needs a person: the lowest first. A robot with alerts comes before one that only waits. */
export function problem(r: Robot): number {
  const n = byTone[toneOf(r)];
  return n > 3 && r.alerts.length > 0 ? 3 : n;
}

const ranks: Record<SortColumn, (r: Robot) => number | string> = {
  problems: problem,
  name: () => 0,
  doing: (r) => byTone[toneOf(r)] + (r.doing.charCodeAt(0) - 96) / 100,
  presence: (r) => byPresence[r.presence.status] ?? 9,
  mode: (r) => r.mode ?? '~',
  story: (r) => r.story?.id ?? r.desired.story?.id ?? '~',
  interrupts: (r) => -r.interrupts.length,
  alerts: (r) => -r.alerts.length,
  site: (r) => r.labels.site ?? '~',
  control: (r) => r.control?.by ?? r.control?.holder ?? '~',
  roundTrip: (r) => -(r.presence.round_trip_ms ?? 0),
};

/**
 * Puts robots in order: by a column, and by name where that is the same. Names are put in their
 * order (r2 before r10) only when there is a new one; after that each order is one sort of numbers.
 */
export class Order {
  private readonly places = new Map<string, number>();

  private learn(robots: readonly Robot[]): void {
    if (robots.every((r) => this.places.has(r.id))) return;
    const names = new Set([...this.places.keys(), ...robots.map((r) => r.id)]);
    const keyed = [...names].map((id) => ({ id, key: id.replace(/\d+/g, (n) => n.padStart(12, '0')) }));
    keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    keyed.forEach(({ id }, i) => this.places.set(id, i));
  }

  /** The robots that match, in order, and the rank of each. */
  of(
    robots: readonly Robot[],
    matches: (r: Robot) => boolean,
    sorting: Sorting,
  ): { ids: string[]; ranks: Map<string, number> } {
    this.learn(robots);
    const chosen = robots.filter(matches);
    const rank = ranks[sorting.column];
    const raw = chosen.map(rank);
    const texts = new Map(
      [...new Set(raw.filter((k): k is string => typeof k === 'string'))].sort().map((text, i) => [text, i]),
    );
    const places = this.places.size + 1;
    const keys = new Float64Array(chosen.length);
    const at = new Map<number, string>();
    const out = new Map<string, number>();
    const sign = sorting.desc ? -1 : 1;
    chosen.forEach((r, i) => {
      const k = raw[i]!;
      const value = sign * (typeof k === 'string' ? texts.get(k)! : k);
      const place = this.places.get(r.id)!;
      const key = Math.round(value * 100) * places + (sorting.column === 'name' ? sign * place : place);
      keys[i] = key;
      at.set(key, r.id);
      out.set(r.id, value);
    });
    keys.sort();
    return { ids: Array.from(keys, (k) => at.get(k)!), ranks: out };
  }
}

/** How many rows would move if an order that is shown became another one. */
export function moved(shown: ReadonlyMap<string, number>, next: ReadonlyMap<string, number>): number {
  let n = 0;
  for (const [id, rank] of next) if (shown.get(id) !== rank) n++;
  for (const id of shown.keys()) if (!next.has(id)) n++;
  return n;
}
