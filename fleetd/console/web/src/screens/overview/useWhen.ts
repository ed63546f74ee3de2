import { fleetdNow } from '../../live/stream';
import { clock } from '../../text/time';

/** When something comes: the time if that is today, else the date. */
export function useWhen(): (at: string) => string {
  const today = new Date(fleetdNow()).toDateString();
  return (at) => (new Date(at).toDateString() === today ? clock(at).slice(0, 5) : new Date(at).toLocaleDateString());
}
