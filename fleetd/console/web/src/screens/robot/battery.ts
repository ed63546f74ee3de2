import { unitOf } from '../../live/units';
import type { State } from './page';

/** The level of the battery in per cent, and whether it charges; undefined if no unit says. */
export function batteryOf(state?: State): { percent: number; charging: boolean } | undefined {
  const said = unitOf(state?.units, 'battery')?.detail?.match(/^(\d+) %(, charging)?/);
  return said ? { percent: Number(said[1]), charging: !!said[2] } : undefined;
}
