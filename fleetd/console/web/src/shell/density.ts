export type Density = 'comfortable' | 'compact';

const key = 'troupe.density';

/** How close to each other things stand, as it was chosen in this browser. */
export const chosenDensity = (): Density => (localStorage.getItem(key) === 'compact' ? 'compact' : 'comfortable');

/** Shows a density: main.css narrows the spaces of a compact page. What a finger presses keeps its size. */
export const showDensity = (d: Density): void => {
  document.documentElement.dataset.density = d;
};

/** Keeps the density in this browser, and shows it. */
export const keepDensity = (d: Density): void => {
  localStorage.setItem(key, d);
  showDensity(d);
};
