/**
 * ms between the times at which drawn robots change. However many of them blink, talk and turn, the browser draws once a
 * beat; with an animation of each it would draw all the time.
 */
export const beat = 100;

/** The time of the last beat. */
export const lastBeat = () => performance.now() - (performance.now() % beat);

/** ms until the first beat that is at least so many ms away. */
export const toBeat = (ms: number, every = beat) => ms + every - ((performance.now() + ms) % every);

/** What moves, each how many beats the next time is after the one before, and which of those times it has had. */
const all = new Map<(ms: number) => void, { every: number; had: number }>();
let timer: ReturnType<typeof setTimeout> | undefined;
/** In how many beats the timer comes at most. */
let period = Infinity;

function next(): void {
  clearTimeout(timer); // what moves may have set it anew
  period = Math.min(...[...all.values()].map((of) => of.every));
  if (all.size > 0) timer = setTimeout(tick, toBeat(1, period * beat));
}

function tick(): void {
  const n = Math.round(performance.now() / beat); // a timer may come a little early, and on a busy page some beats late
  for (const [move, of] of all) {
    const turn = Math.floor(n / of.every);
    if (turn === of.had) continue;
    of.had = turn;
    move(n * beat);
  }
  next();
}

/**
 * Calls back with the time at each beat, or at each of so many, until the returned function is called. Between the first
 * call and the last one there is one timer for all; else there is none.
 */
export function eachBeat(move: (ms: number) => void, every = 1): () => void {
  all.set(move, { every, had: Math.floor(performance.now() / beat / every) });
  if (every < period) next();
  return () => {
    all.delete(move);
    if (all.size === 0) next();
  };
}
