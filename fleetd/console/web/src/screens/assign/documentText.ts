import { useAssignTexts } from './text';

/**
 * A document before or after a change, in words. With changed, the word for it, a setting that is a
 * list or has parts is only said to be changed.
 */
export function documentText(of: 'config' | 'mode' | 'places', value: unknown, changed?: string): string {
  const v = (value ?? {}) as { mode?: string; places?: { id: string } | null } & Record<string, unknown>;
  if (of === 'mode') return v.mode || '–';
  if (of === 'places') return v.places?.id ?? '–';
  const all = Object.entries(v).map(([k, one]) =>
    changed && typeof one === 'object' && one !== null ? `${k} ${changed}` : settingText(k, one),
  );
  return all.join(', ') || '–';
}

/** A setting and its value; null is that of a setting that fleetd leaves to the robot. */
export const settingText = (key: string, value: unknown): string =>
  value === null ? useAssignTexts.now().notSet(key) : `${key} = ${JSON.stringify(value)}`;
