import type { Schemas } from '../api/client';
import { type AlertWords, alertTitle } from './alerts';
import { inButtons } from './buttons';
import { reasonText } from './reasons';
import { plainText } from './plain';
import { inWords } from './terms';
import { degrees, shortDuration } from './time';

type Event = Pick<Schemas['Event'], 'type' | 'source' | 'cause' | 'data'>;
type Words = Record<string, string>;

/** The tables of words that describe events. */
export interface EventTables {
  events: Words;
  reasons: Words;
  alerts: Record<string, AlertWords>;
  /** What causes a change, by source. */
  causes: Record<string, Words>;
  /** The states between which a source changes. */
  states: Record<string, Words>;
}

/** What an event means, with the fields of its data that the words name in backticks and the act that it is about. */
export function eventText(words: Words, { type, data }: Pick<Event, 'type' | 'data'>): string {
  const fields = (data ?? {}) as Record<string, unknown>;
  const said = inButtons(words[type] ?? type.replaceAll('_', ' '));
  const what = said.replace(/`(\w+)`/g, (_, f: string) => String(fields[f] ?? f));
  const act = type.startsWith('act_') && fields.act;
  return [what, typeof act === 'string' && act].filter(Boolean).join(': ');
}

/** Why it happened, in words; a text of a robot or a person as it is. */
export function causeText(t: EventTables, { type, source, cause }: Pick<Event, 'type' | 'source' | 'cause'>): string {
  if (!cause) return '';
  if (type.startsWith('alert_') && Object.hasOwn(t.alerts, cause)) return alertTitle(t.alerts, cause);
  const own = t.causes[source];
  if (own && Object.hasOwn(own, cause)) return inWords(own, cause);
  return Object.hasOwn(t.reasons, cause) ? reasonText(t.reasons, cause) : cause;
}

/** The name of a detail in words; its unit stands behind the value. */
const detailName = (name: string): string =>
  name === 'ms' ? 'time' : plainText(name.replace(/_(ms|rad)$/, '').replaceAll('_', ' '));

/** The details of an event as "name: value", codes with their words; only what has parts is JSON. */
export function detailsText(t: EventTables, { source, data }: Pick<Event, 'source' | 'data'>): string {
  if (data === undefined || data === null) return '';
  if (typeof data !== 'object' || Array.isArray(data)) return JSON.stringify(data);
  const valueText = (name: string, value: unknown): string => {
    if (typeof value === 'number' && /(^|_)ms$/.test(name)) return shortDuration(value);
    if (typeof value === 'number' && name.endsWith('_rad')) return `${degrees(value)}°`;
    if (typeof value !== 'string') return JSON.stringify(value);
    if (name === 'reason') return Object.hasOwn(t.reasons, value) ? reasonText(t.reasons, value) : value;
    const words = name === 'from' || name === 'to' ? t.states[source] : undefined;
    return words && Object.hasOwn(words, value) ? inWords(words, value) : value;
  };
  return Object.entries(data)
    .filter(([, v]) => v !== '' && v !== null)
    .map(([k, v]) => `${detailName(k)}: ${valueText(k, v)}`)
    .join(', ');
}
