export type Direction = 'ltr' | 'rtl';

const key = 'troupe.direction';

/** The direction of writing that was chosen in this browser. */
export const chosenDirection = (): Direction => (localStorage.getItem(key) === 'rtl' ? 'rtl' : 'ltr');

/** Keeps the direction of writing in this browser. */
export const keepDirection = (d: Direction): void => localStorage.setItem(key, d);
