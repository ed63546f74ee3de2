/**
 * ms between the times at which drawn robots change. However many of them blink, talk and turn, the browser draws once a
 * beat; with an animation of each it would draw all the time.
 */
export const beat = 100;

/** The time of the last beat. */
export const lastBeat = () => performance.now() - (performance.now() % beat);

/** ms until the first beat that is at least so many ms away. */
export const toBeat = (ms: number, every = beat) => ms + every - ((performance.now() + ms) % every);

const all = new Map<(ms: number) => void, number>();
let timer: ReturnType<typeof setTimeout> | undefined;

function next(): void {
  timer = setTimeout(
    () => {
      const n = Math.round(performance.now() / beat);
      for (const [move, every] of all) if (n % every === 0) move(n * beat);
      if (all.size > 0) next();
    },
    toBeat(1, Math.min(...all.values()) * beat),
  );
}

/**
 * Calls back with the time at each beat, or at each of so many, until the returned function is called. Between the first
 * call and the last one there is one timer for all; else there is none.
 */
export function eachBeat(move: (ms: number) => void, every = 1): () => void {
  all.set(move, every);
  clearTimeout(timer);
  next();
  return () => {
    all.delete(move);
    if (all.size === 0) clearTimeout(timer);
  };
}
