import { useEffect } from 'react';
import { create } from 'zustand';

import { fleetdNow } from '../../live/stream';
import { batteryOf } from './battery';
import type { Page } from './page';

/** What was measured at one time; a value that nobody reported is missing. */
export interface Sample {
  /** fleetd's time, ms. */
  at: number;
  values: Record<string, number | undefined>;
}

/** So many samples of a robot are kept: an hour at one in two seconds. */
const most = 1800;
/** ms between two samples. */
const apart = 1900;

/** Samples of the robots whose pages were opened in this tab. */
export const useSamples = create<{ of: Record<string, Sample[]> }>()(() => ({ of: {} }));

/** Adds a sample, unless the newest one is of now. */
export function add(list: readonly Sample[], sample: Sample): Sample[] {
  const last = list.at(-1);
  if (last && sample.at - last.at < apart) return list as Sample[];
  return [...list.slice(-(most - 1)), sample];
}

/** What the documents of a robot have of measurements, by the name of the chart and the line. */
export function measure({ robot, detail, stale }: Pick<Page, 'robot' | 'detail' | 'stale'>): Sample['values'] {
  if (stale || !detail?.state) return {}; // a gap
  const s = detail.state;
  const values: Sample['values'] = {
    battery: batteryOf(s)?.percent,
    'round trip': robot.presence.round_trip_ms || undefined,
    'silence budget': s.link.budget_ms === undefined ? 0 : s.link.budget_ms / 1000,
  };
  for (const d of s.diagnosis ?? []) {
    if (typeof d.temperature_c === 'number') values[`temperature ${d.id}`] = d.temperature_c;
  }
  return values;
}

/** Collects samples of a robot for as long as its page is open. */
export function useCollect(page?: Pick<Page, 'id' | 'robot' | 'detail' | 'stale'>): void {
  useEffect(() => {
    if (!page) return;
    useSamples.setState(({ of }) => {
      const list = of[page.id] ?? [];
      const next = add(list, { at: fleetdNow(), values: measure(page) });
      return next === list ? { of } : { of: { ...of, [page.id]: next } };
    });
  });
}
