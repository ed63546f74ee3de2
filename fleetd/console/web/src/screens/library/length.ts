/** From here on a length is said in minutes: less than this rounds to at most 59.9 s. */
export const minute = 59_950;

/** How long one round lasts, for people. */
export function length(ms: number): string {
  if (ms < minute) return (ms / 1000).toFixed(1);
  // Rounded before it is split: else 1:59.6 would be 1:00.
  const s = Math.round(ms / 1000);
  return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, '0')} min`;
}
