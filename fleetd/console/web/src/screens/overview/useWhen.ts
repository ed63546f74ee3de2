import { useEffect, useState } from 'react';

import { beat, eachBeat } from '../../live/beats';
import { fleetdNow } from '../../live/stream';
import { clock, locale } from '../../text/time';

const minute = 60_000;

/**
 * When something comes: the time if that is today, else the date; of another day also the time, if that is asked for. What asks is drawn
 * again each minute.
 */
export function useWhen(timed = false): (at: string) => string {
  const [, again] = useState(0);
  useEffect(() => eachBeat(again, minute / beat), []);
  const today = new Date(fleetdNow()).toDateString();
  return (at) => {
    const day = new Date(at);
    if (day.toDateString() === today) return clock(at).slice(0, 5);
    if (!timed) return day.toLocaleDateString(locale());
    return day.toLocaleString(locale(), { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' });
  };
}
