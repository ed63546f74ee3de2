import { useLanguage } from './language';

/** The console's language as the browser writes it, such as en-GB. */
export function locale(wanted: readonly string[] = navigator.languages): string {
  const { language } = useLanguage.getState();
  return wanted.find((l) => l.split('-')[0] === language) ?? language;
}

/** The time of day of an instant, with seconds. hour12: false would make Chromium write 24 for the hour after midnight. */
export function clock(at: string | number): string {
  return new Date(at).toLocaleTimeString(locale(), { hourCycle: 'h23' });
}

/** Date and time of an instant. */
export function dateTime(at: string | number): string {
  return new Date(at).toLocaleString(locale(), {
    dateStyle: 'medium',
    timeStyle: 'medium',
    hourCycle: 'h23',
  });
}

/** The time of day of an instant that is today, else its date too. */
export function timeOrDate(at: string | number): string {
  return new Date(at).toDateString() === new Date().toDateString() ? clock(at) : dateTime(at);
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

/** A duration as m:ss, such as 0:38. */
export function duration(ms: number): string {
  const s = Math.max(0, Math.round(ms / 1000));
  return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, '0')}`;
}

/** A duration that may be short: below 10 s as 1.2 s, else as duration. */
export const shortDuration = (ms: number): string => (ms < 9_950 ? `${(ms / 1000).toFixed(1)} s` : duration(ms));

/** An angle in whole degrees. */
export const degrees = (rad: number): number => Math.round((rad * 180) / Math.PI);
