import type { Schemas } from '../../api/client';

/** What a curve is drawn from: times in seconds, and null where nothing was measured. */
export interface Curve {
  at: number[];
  min: (number | null)[];
  mean: (number | null)[];
  max: (number | null)[];
}

/** A point of a curve as fleetd lists it. */
export type Measured = Pick<Schemas['MeasuredPoint'], 'at' | 'min' | 'mean' | 'max'>;

/** The curve of points that are one step of so many seconds apart: a longer time between two of them is a gap. */
export function curveOf(points: readonly Measured[], stepS: number): Curve {
  const out: Curve = { at: [], min: [], mean: [], max: [] };
  const add = (at: number, min: number | null, mean: number | null, max: number | null) => {
    out.at.push(at);
    out.min.push(min);
    out.mean.push(mean);
    out.max.push(max);
  };
  for (const p of points) {
    const at = Date.parse(p.at) / 1000;
    const last = out.at.at(-1);
    if (last !== undefined && at - last > 1.5 * stepS) add(last + stepS, null, null, null);
    add(at, p.min, p.mean, p.max);
  }
  return out;
}

/** The least, the mean and the greatest value of points, and the newest mean; undefined without points. */
export function summary(points: readonly Measured[]) {
  if (points.length === 0) return undefined;
  return {
    least: Math.min(...points.map((p) => p.min)),
    mean: points.reduce((sum, p) => sum + p.mean, 0) / points.length,
    most: Math.max(...points.map((p) => p.max)),
    newest: points.at(-1)!.mean,
  };
}

/** ms between two points in which nothing was measured, the longest such time. */
export function longestGap(points: readonly Measured[], stepS: number): number {
  let most = 0;
  for (let i = 1; i < points.length; i++) {
    const between = Date.parse(points[i]!.at) - Date.parse(points[i - 1]!.at) - stepS * 1000;
    if (between > 0.5 * stepS * 1000) most = Math.max(most, between);
  }
  return most;
}

/** The spans of time that people choose, in ms. */
export const spans = {
  hour: 3600_000,
  day: 24 * 3600_000,
  week: 7 * 24 * 3600_000,
  year: 365 * 24 * 3600_000,
} as const;
export type Span = keyof typeof spans;

/** A value with as many digits as help. */
export function shown(v: number): string {
  const digits = Math.abs(v) >= 100 ? 0 : Math.abs(v) >= 1 ? 1 : 2;
  return String(Number(v.toFixed(digits)));
}

/** The place of the point nearest to a time, in seconds, that has a value; undefined if none has. */
export function nearest(curve: Curve, at: number): number | undefined {
  let best: number | undefined;
  curve.at.forEach((t, i) => {
    if (curve.mean[i] !== null && (best === undefined || Math.abs(t - at) < Math.abs(curve.at[best]! - at))) best = i;
  });
  return best;
}

/** The place of the next point with a value in a direction, or the one itself at the end. */
export function beside(curve: Curve, from: number, step: 1 | -1): number {
  for (let i = from + step; i >= 0 && i < curve.at.length; i += step) if (curve.mean[i] !== null) return i;
  return from;
}
