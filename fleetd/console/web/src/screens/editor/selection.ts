/** What is chosen in the list. Rows whose boxes are ticked are chosen together; another chosen row is only open. */
export interface Selection {
  keys: readonly string[];
  ticked: boolean;
}

export const nothing: Selection = { keys: [], ticked: false };

/** Ticks or unticks a row. The first tick leaves out a row that is only open, such as one that was just added. */
export function tick(s: Selection, key: string): Selection {
  if (!s.ticked) return { keys: [key], ticked: true };
  const keys = s.keys.includes(key) ? s.keys.filter((k) => k !== key) : [...s.keys, key];
  return { keys, ticked: keys.length > 0 };
}
