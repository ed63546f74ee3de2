import type { Selector } from '../robots/filter';

/** A selector of labels as a person writes it: site=lobby. */
export const labelTexts = (s: Selector): string[] => (s.labels ?? []).map((l) => `${l.key}=${l.value}`);

const pattern = /^([^=\s]+)=(.+)$/;

/** Whether all robots, or labels alone, say which robots it selects. */
export const onlyLabels = (s: Selector): boolean =>
  Object.entries(s).every(([k, v]) => k === 'all' || k === 'labels' || (typeof v !== 'boolean' && v.length === 0));

/** Whether each text names a label and its value. */
export const areLabels = (texts: readonly string[]): boolean => texts.every((t) => pattern.test(t.trim()));

/** The selector that these texts stand for. */
export function selectorOf(all: boolean, texts: readonly string[]): Selector {
  if (all) return { all: true };
  return {
    labels: texts.flatMap((text) => {
      const found = pattern.exec(text.trim());
      return found ? [{ key: found[1]!, value: found[2]! }] : [];
    }),
  };
}

/** The labels that robots of the fleet have, each once. */
export const labelsOf = (fleet: readonly { labels: Record<string, string> }[]): string[] =>
  [...new Set(fleet.flatMap((r) => Object.entries(r.labels).map(([k, v]) => `${k}=${v}`)))].sort();
