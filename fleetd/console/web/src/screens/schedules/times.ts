import { numberIn } from '../rollouts/spec';
import { type Day, days, type Times } from './types';

/** When something happens, as a person writes it. */
export interface TimesForm {
  by: 'week' | 'once' | 'site' | 'cron';
  /** 09:00 */
  time: string;
  days: Day[];
  /** 2026-12-24T18:00 */
  at: string;
  cron: string;
  zone: string;
  on: 'opening' | 'closing';
  site: string;
  /** Minutes after the opening or closing; negative before it. */
  offset: string;
}

/** The time zone of this browser, with which a new schedule begins. */
export const zoneHere = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';

export const everyTime = (): TimesForm => ({
  by: 'week',
  time: '09:00',
  days: ['mon', 'tue', 'wed', 'thu', 'fri'],
  at: '',
  cron: '',
  zone: zoneHere(),
  on: 'opening',
  site: '',
  offset: '',
});

const numbers: Record<Day, number> = { mon: 1, tue: 2, wed: 3, thu: 4, fri: 5, sat: 6, sun: 0 };

/** A cron expression of a time on some days of the week. */
export function cronOf(time: string, on: readonly Day[]): string {
  const [hour = '', minute = ''] = time.split(':');
  const which =
    on.length === 7
      ? '*'
      : days
          .filter((d) => on.includes(d))
          .map((d) => numbers[d])
          .join(',');
  return `${Number(minute)} ${Number(hour)} * * ${which}`;
}

/** Reads what cronOf wrote, also with ranges such as 1-5; undefined if the expression says more. */
export function weekOf(cron: string): { time: string; days: Day[] } | undefined {
  const found = /^(\d{1,2}) (\d{1,2}) \* \* (\S+)$/.exec(cron.trim());
  if (!found) return undefined;
  const [, minute = '', hour = '', which = ''] = found;
  const on = new Set<number>();
  if (which === '*') Object.values(numbers).forEach((n) => on.add(n));
  else
    for (const part of which.split(',')) {
      const range = /^([0-7])(?:-([0-7]))?$/.exec(part);
      if (!range) return undefined;
      for (let n = Number(range[1]); n <= Number(range[2] ?? range[1]); n++) on.add(n % 7);
    }
  if (Number(minute) > 59 || Number(hour) > 23) return undefined;
  return { time: `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`, days: days.filter((d) => on.has(numbers[d])) };
}

/** What is sent to fleetd; undefined while something is missing. */
export function timesOf(f: TimesForm): Times | undefined {
  switch (f.by) {
    case 'week':
      return f.time && f.days.length > 0 ? { cron: cronOf(f.time, f.days), zone: f.zone } : undefined;
    case 'once':
      return f.at ? { at: f.at, zone: f.zone } : undefined;
    case 'site': {
      const offset = Math.round((numberIn(f.offset) ?? 0) * 60);
      return f.site && !Number.isNaN(offset) ? { event: f.on, site: f.site, offset_s: offset || undefined } : undefined;
    }
    case 'cron':
      return f.cron.trim() ? { cron: f.cron.trim(), zone: f.zone } : undefined;
  }
}

/** How a person sees times of fleetd. */
export function formOf(t: Times): TimesForm {
  const f = { ...everyTime(), zone: t.zone || zoneHere() };
  if (t.event)
    return { ...f, by: 'site', on: t.event, site: t.site ?? '', offset: t.offset_s ? `${t.offset_s / 60}` : '' };
  if (t.at) return { ...f, by: 'once', at: t.at };
  const week = weekOf(t.cron ?? '');
  return week ? { ...f, ...week } : { ...f, by: 'cron', cron: t.cron ?? '' };
}

/** The spans of a day as a person writes them: 09:00-12:00, 13:00-18:00. */
export const spansIn = (text: string): string[] =>
  text
    .split(/[,;]/)
    .map((s) =>
      s
        .trim()
        .replace(/\s*[-–]\s*/, '-')
        .replace(/^(\d):/, '0$1:')
        .replace(/-(\d):/, '-0$1:'),
    )
    .filter((s) => s);

/** Minutes after midnight of a time such as 09:30; 24:00 is the end of the day. */
export const minuteOf = (time: string): number => {
  const [h = '0', m = '0'] = time.split(':');
  return Number(h) * 60 + Number(m);
};

/** The Monday of the week of a date, both as 2026-11-23. */
export function mondayOf(date: string): string {
  const d = new Date(`${date}T12:00:00Z`);
  d.setUTCDate(d.getUTCDate() - ((d.getUTCDay() + 6) % 7));
  return d.toISOString().slice(0, 10);
}

/** The date so many days after another. */
export function plusDays(date: string, n: number): string {
  const d = new Date(`${date}T12:00:00Z`);
  d.setUTCDate(d.getUTCDate() + n);
  return d.toISOString().slice(0, 10);
}
