/** A place in time, or a length, as people read it on a clock: 0:38, or 0:01.5 where a part of a second matters. */
export function position(ms: number): string {
  const tenths = Math.max(0, Math.round(ms / 100));
  const [minutes, seconds, rest] = [Math.floor(tenths / 600), Math.floor(tenths / 10) % 60, tenths % 10];
  return `${minutes}:${String(seconds).padStart(2, '0')}${rest ? `.${rest}` : ''}`;
}
