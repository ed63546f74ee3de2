/** What entries of assignments say was done. */
export const assignments = ['assign', 'withdraw', 'revert', 'desired'];

/** Robots by what they had or got, as entries of assignments have them; undefined for other texts. */
export function robotsBy(text = ''): [what: string, robots: string][] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!value || typeof value !== 'object' || Array.isArray(value)) return undefined;
  const all = Object.entries(value);
  const lists = all.every(([, v]) => Array.isArray(v) && v.every((r) => typeof r === 'string'));
  return all.length > 0 && lists ? all.map(([what, robots]) => [what, (robots as string[]).join(', ')]) : undefined;
}
