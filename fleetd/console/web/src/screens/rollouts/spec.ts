import type { Spec, WaveSpec } from './types';

/** A wave as a person writes it. */
export interface WaveRow {
  name: string;
  by: 'count' | 'percent' | 'label';
  /** The number, the percentage, or a label such as site=lab. */
  size: string;
  /** Percent of the decided robots; empty = the default of the wave. */
  failures: string;
  /** Minutes for which it is watched; empty = the default of the wave. */
  watched: string;
}

/** How a rollout goes, as a person writes it: empty fields stand for the defaults. */
export interface SpecForm {
  own: boolean;
  waves: WaveRow[];
  offersPerMin: string;
  offline: '' | 'wait' | 'skip' | 'fail';
  pinned: '' | 'leave' | 'replace';
  inWindows: boolean;
  onlyIdle: boolean;
  retries: string;
  watchHealth: boolean;
  /** Robots of which the plan says that they would refuse the content get it offered, too. */
  offerRefused: boolean;
}

/** The waves with which a person begins who wants others than the default. */
export const firstWaves: WaveRow[] = [
  { name: '', by: 'count', size: '1', failures: '', watched: '' },
  { name: '', by: 'percent', size: '50', failures: '', watched: '' },
];

export const defaults: SpecForm = {
  own: false,
  waves: firstWaves,
  offersPerMin: '',
  offline: '',
  pinned: '',
  inWindows: false,
  onlyIdle: false,
  retries: '',
  watchHealth: true,
  offerRefused: false,
};

/** A number as a person writes it, with a point or a comma; undefined for nothing, NaN if it cannot be read. */
export function numberIn(text: string): number | undefined {
  const digits = text.trim().replace(',', '.');
  if (digits === '') return undefined;
  return Number.isFinite(Number(digits)) ? Number(digits) : NaN;
}

function waveOf(w: WaveRow): WaveSpec {
  const wave: WaveSpec = {};
  if (w.name.trim()) wave.name = w.name.trim();
  const at = w.size.indexOf('=');
  switch (w.by) {
    case 'count':
      wave.count = numberIn(w.size);
      break;
    case 'percent':
      wave.percent = numberIn(w.size);
      break;
    case 'label':
      wave.selector = { labels: [{ key: w.size.slice(0, at).trim(), value: w.size.slice(at + 1).trim() }] };
  }
  const failures = numberIn(w.failures);
  const watched = numberIn(w.watched);
  if (failures !== undefined) wave.max_failure_percent = failures;
  // The default of later waves would let several robots fail before the first failure counts.
  if (failures === 0) wave.min_decided = 1;
  if (watched !== undefined) wave.soak_s = Math.round(watched * 60);
  return wave;
}

/** What is sent to fleetd: only what differs from the defaults. */
export function specOf(f: SpecForm): Spec {
  const spec: Spec = {};
  if (f.own) spec.waves = f.waves.map(waveOf);
  const offers = numberIn(f.offersPerMin);
  const retries = numberIn(f.retries);
  if (offers !== undefined) spec.offers_per_min = offers;
  if (retries !== undefined) spec.retries = retries;
  if (f.offline) spec.offline = f.offline;
  if (f.pinned) spec.pinned = f.pinned;
  if (f.offerRefused) spec.refused = 'offer';
  if (f.inWindows) spec.in_windows = true;
  if (f.onlyIdle) spec.only_idle = true;
  if (!f.watchHealth) spec.watch_health = false;
  return spec;
}

/** Whether each wave says how many robots it has. */
export function sized(f: SpecForm): boolean {
  return (
    !f.own || f.waves.every((w) => (w.by === 'label' ? /^[^=]+=.+$/.test(w.size.trim()) : (numberIn(w.size) ?? 0) > 0))
  );
}

/** Whether every number that is filled in can be read. */
export const readable = (f: SpecForm): boolean =>
  [f.offersPerMin, f.retries, ...(f.own ? f.waves.flatMap((w) => [w.failures, w.watched]) : [])].every(
    (text) => !Number.isNaN(numberIn(text)),
  );

/** The address has how a rollout goes, so that a reload keeps it; undefined for the defaults. */
export function inAddress(f: SpecForm): string | undefined {
  const text = JSON.stringify(f);
  return text === JSON.stringify(defaults) ? undefined : text;
}

/** Reads inAddress; what it cannot read are the defaults. */
export function fromAddress(text: string | null): SpecForm {
  try {
    const f = JSON.parse(text ?? '') as SpecForm;
    return { ...defaults, ...f, waves: Array.isArray(f.waves) ? f.waves : firstWaves };
  } catch {
    return defaults;
  }
}
