import type { CSSProperties } from 'react';

import type { Robot } from '../../api/client';
import { type Tone, toneOf } from '../../live/performing';

/** Up to so many robots that need nobody are drawn, one card each; of more, only their number is shown. */
export const maxDrawn = 200;

/** Up to so many robots are on a floor plan. */
export const maxOnPlan = 200;

/** Of so many robots that are drawn, heads turn smoothly; of more, at once, since the browser draws as long as one turns. */
const smooth = 12;

/** The style of what draws so many robots. */
export const turnOf = (count: number) => (count > smooth ? { '--turn': '0s' } : undefined) as CSSProperties | undefined;

/** The robots of a site by what they do. */
export interface SiteGroup {
  site: string;
  robots: readonly Robot[];
  tones: Record<Tone, number>;
}

/** Groups robots by site in one pass: it is done once a second over a large fleet. Those without a site come last. */
export function bySite(fleet: readonly Robot[]): SiteGroup[] {
  const groups = new Map<string, { site: string; robots: Robot[]; tones: Record<Tone, number> }>();
  for (const r of fleet) {
    const site = r.labels.site ?? '';
    let g = groups.get(site);
    if (!g) {
      g = { site, robots: [], tones: { good: 0, waiting: 0, attention: 0, stopped: 0, away: 0 } };
      groups.set(site, g);
    }
    g.robots.push(r);
    g.tones[toneOf(r)]++;
  }
  return [...groups.values()].sort((a, b) =>
    a.site === '' ? 1 : b.site === '' ? -1 : a.site.localeCompare(b.site, undefined, { numeric: true }),
  );
}

/** A robot with where it is on its map. */
export type Placed = Robot & { body: { at: NonNullable<Robot['body']['at']> } };

/** Metres from the origin of a map within which a plan shows something: beyond them a position is a mistake. */
const farthest = 10_000;

/** Whether a position can be on a plan. */
export const onPlan = ({ x_m, y_m }: { x_m: number; y_m: number }): boolean =>
  Math.abs(x_m) <= farthest && Math.abs(y_m) <= farthest;

/** Whether a robot says where it is. */
export const isPlaced = (r: Robot): r is Placed => !!r.body?.at && onPlan(r.body.at);

/** The multiples of step from one number to another. */
export function multiples(from: number, to: number, step: number): number[] {
  const first = Math.ceil(from / step);
  const count = Math.max(0, Math.floor(to / step) - first + 1);
  return Array.from({ length: count }, (_, i) => (first + i) * step);
}

/** The robots that say where they are, by the map that they use. */
export function byMap(fleet: readonly Robot[]): [map: string, robots: Placed[]][] {
  const maps = new Map<string, Placed[]>();
  for (const r of fleet) {
    if (!isPlaced(r)) continue;
    const map = r.body.at.map_sha256 ?? '';
    const those = maps.get(map);
    if (those) those.push(r);
    else maps.set(map, [r]);
  }
  return [...maps];
}
