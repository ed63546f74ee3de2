export type Direction = 'ltr' | 'rtl';

const key = 'troupe.direction';

/**
 * The direction of writing that was chosen in this browser. The language does not decide it: all languages of the
 * console are written from left to right, and people whose own is not may want its order of controls.
 */
export const chosenDirection = (): Direction => (localStorage.getItem(key) === 'rtl' ? 'rtl' : 'ltr');

/** Keeps the direction of writing in this browser. */
export const keepDirection = (d: Direction): void => localStorage.setItem(key, d);
