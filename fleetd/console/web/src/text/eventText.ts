import type { Schemas } from '../api/client';

type Event = Pick<Schemas['Event'], 'type' | 'data'>;

/** What an event means, with the act that it is about. */
export function eventText(words: Record<string, string>, { type, data }: Event): string {
  const act = type.startsWith('act_') && (data as { act?: unknown } | undefined)?.act;
  return [words[type] ?? type.replaceAll('_', ' '), typeof act === 'string' && act].filter(Boolean).join(': ');
}

/** The details of an event as "name: value"; only what has parts is JSON. */
export function detailsText({ data }: Event): string {
  if (data === undefined || data === null) return '';
  if (typeof data !== 'object' || Array.isArray(data)) return JSON.stringify(data);
  return Object.entries(data)
    .filter(([, v]) => v !== '' && v !== null)
    .map(([k, v]) => `${k.replaceAll('_', ' ')}: ${typeof v === 'string' ? v : JSON.stringify(v)}`)
    .join(', ');
}
