import { useLanguage } from './language';

/** The time of day of an instant, with seconds. */
export function clock(at: string | number): string {
  return new Date(at).toLocaleTimeString(useLanguage.getState().language, { hour12: false });
}

/** Date and time of an instant. */
export function dateTime(at: string | number): string {
  return new Date(at).toLocaleString(useLanguage.getState().language, {
    dateStyle: 'medium',
    timeStyle: 'medium',
    hour12: false,
  });
}

/** How long ago something was, for people. */
export function ago(ms: number): string {
  const format = new Intl.RelativeTimeFormat(useLanguage.getState().language, { numeric: 'always', style: 'short' });
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 60) return format.format(-s, 'second');
  if (s < 3600) return format.format(-Math.floor(s / 60), 'minute');
  if (s < 48 * 3600) return format.format(-Math.floor(s / 3600), 'hour');
  return format.format(-Math.floor(s / 86400), 'day');
}
