import type { DaySpan, Run, Schedule, WeekDay } from './types';
import { minuteOf } from './times';

/** A part of the column of a day, in minutes after midnight as clocks show them. */
export interface Block {
  from: number;
  to: number;
  /** As the hours name it, such as 20:00-02:00. */
  text: string;
}

/** Something that happens by itself. */
export interface Mark {
  at: string;
  minute: number;
  schedule: string;
  outcome?: Run['outcome'];
}

const midnight = 1440;

/** What is in the column of each day: spans that end after midnight go on in the next one. */
export function blocksOf(days: readonly WeekDay[], which: 'open' | 'windows'): Block[][] {
  const out: Block[][] = days.map(() => []);
  days.forEach((d, n) =>
    d[which].forEach((s: DaySpan) => {
      const from = minuteOf(s.from.slice(11, 16));
      const to = minuteOf(s.to.slice(11, 16));
      const over = s.to.slice(0, 10) > s.from.slice(0, 10);
      out[n]!.push({ from, to: over ? midnight : to, text: s.text });
      if (over && to > 0) out[n + 1]?.unshift({ from: 0, to, text: s.text });
    }),
  );
  return out;
}

/** The date and the time that clocks show in a zone. */
export function inZone(at: string, zone: string): { date: string; time: string } {
  const [date = '', time = ''] = new Date(at).toLocaleString('sv-SE', { timeZone: zone }).split(' ');
  return { date, time: time.slice(0, 5) };
}

/** Whether a schedule is about robots of a site. */
export const isOfSite = (s: Pick<Schedule, 'of_site' | 'site' | 'selector'>, site: string): boolean =>
  s.of_site === site || s.site === site || !!s.selector?.labels?.some((l) => l.key === 'site' && l.value === site);

/** What happened and will happen on each day: instants that ran, and those that are to come. */
export function marksOf(
  days: readonly WeekDay[],
  zone: string,
  runs: readonly Pick<Run, 'schedule' | 'instant' | 'outcome'>[],
  coming: readonly Pick<Schedule, 'id' | 'next'>[],
): Mark[][] {
  const all = [
    ...runs.map((r) => ({ at: r.instant, schedule: r.schedule, outcome: r.outcome as Run['outcome'] | undefined })),
    ...coming.flatMap((s) => (s.next ?? []).map((i) => ({ at: i.at, schedule: s.id, outcome: undefined }))),
  ];
  const out: Mark[][] = days.map(() => []);
  for (const one of all) {
    const { date, time } = inZone(one.at, zone);
    const n = days.findIndex((d) => d.date === date);
    if (n >= 0 && !out[n]!.some((m) => m.schedule === one.schedule && m.at === time))
      out[n]!.push({ at: time, minute: minuteOf(time), schedule: one.schedule, outcome: one.outcome });
  }
  return out.map((marks) => marks.sort((a, b) => a.minute - b.minute || a.schedule.localeCompare(b.schedule)));
}
