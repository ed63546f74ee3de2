import { fleetdNow } from '../../live/stream';
import { clock, locale } from '../../text/time';

/** When something comes: the time if that is today, else the date; of another day also the time, if that is asked for. */
export function useWhen(timed = false): (at: string) => string {
  const today = new Date(fleetdNow()).toDateString();
  return (at) => {
    const day = new Date(at);
    if (day.toDateString() === today) return clock(at).slice(0, 5);
    if (!timed) return day.toLocaleDateString(locale());
    return day.toLocaleString(locale(), { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' });
  };
}
