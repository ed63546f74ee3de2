import { type ActionForm, actionForm, actionOf } from './actionForm';
import { type Day, days, type SiteBody } from './types';
import { spansIn, zoneHere } from './times';

/** The calendar of a site as a person writes it. */
export interface SiteForm {
  zone: string;
  hours: Record<Day, string>;
  exceptions: { date: string; until: string; hours: string; name: string }[];
  windows: { days: Day[]; span: string }[];
  open?: ActionForm;
  close?: ActionForm;
}

/** How a person sees what is known of a site. */
export function siteForm(s: SiteBody | undefined): SiteForm {
  return {
    zone: s?.zone || zoneHere(),
    hours: Object.fromEntries(days.map((d) => [d, (s?.hours?.[d] ?? []).join(', ')])) as Record<Day, string>,
    exceptions: (s?.exceptions ?? []).map((e) => ({
      date: e.date,
      until: e.until ?? '',
      hours: (e.hours ?? []).join(', '),
      name: e.name ?? '',
    })),
    windows: (s?.windows ?? []).map((w) => ({ days: w.days?.length ? w.days : [...days], span: w.span })),
    open: s?.open && actionForm(s.open),
    close: s?.close && actionForm(s.close),
  };
}

/** What is sent to fleetd. */
export function siteOf(f: SiteForm): SiteBody {
  const hours: SiteBody['hours'] = {};
  for (const d of days) if (spansIn(f.hours[d]).length > 0) hours[d] = spansIn(f.hours[d]);
  return {
    zone: f.zone,
    hours,
    exceptions: f.exceptions.map((e) => ({
      date: e.date,
      until: e.until || undefined,
      hours: spansIn(e.hours),
      name: e.name.trim() || undefined,
    })),
    windows: f.windows.flatMap((w) => {
      const spans = spansIn(w.span);
      // Without a span it is sent all the same: fleetd says what is wrong with it.
      return (spans.length > 0 ? spans : [w.span]).map((span) => ({
        days: w.days.length === days.length ? undefined : w.days,
        span,
      }));
    }),
    open: f.open && actionOf(f.open),
    close: f.close && actionOf(f.close),
  };
}

/** Which text says why a calendar cannot be sent yet. fleetd takes a window without days for one on every day. */
export function missingOf(f: SiteForm): 'noAction' | 'noDays' | undefined {
  if ([f.open, f.close].some((a) => a && !actionOf(a))) return 'noAction';
  if (f.windows.some((w) => w.days.length === 0)) return 'noDays';
  return undefined;
}
