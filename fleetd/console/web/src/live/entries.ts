import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';

import { api, data, type Schemas } from '../api/client';
import { type Kind, plural } from '../api/kinds';
import { useLanguage } from '../text/language';
import { textIn } from '../text/multilingual';

export type Entry = Schemas['Entry'];

/** The name of an entry for a reader of a language, or else its id. */
export const nameOf = (e: Pick<Entry, 'id' | 'name' | 'names'>, language: string) =>
  textIn(e.names, language)?.text || e.name || e.id;

// The three kinds have the same requests; the types of acts stand for all.
const at = (kind: Kind) => `/api/v1/${plural[kind]}` as '/api/v1/acts';

export const entriesOf = async (kind: Kind, deleted = false) =>
  (await data(api.GET(at(kind), { params: { query: { deleted } } }))).entries ?? [];

/** A function that names entries in the language of the console; one that is unknown, or has no name, has its id. */
export function useNameOf(kind: Kind): (id: string) => string {
  const language = useLanguage((s) => s.language);
  const entries = useQuery({
    queryKey: ['library', kind, { deleted: false }],
    queryFn: () => entriesOf(kind),
    staleTime: 60_000,
  }).data;
  const names = useMemo(() => new Map(entries?.map((e) => [e.id, nameOf(e, language)])), [entries, language]);
  return (id) => names.get(id) ?? id;
}

/** A function that gives an alert with the names of the story and the act that its sentence is about. */
export function useNamesIn(): <A extends { params?: Schemas['SchemaAlertParams'] }>(alert: A) => A {
  const story = useNameOf('story');
  const act = useNameOf('act');
  return (alert) => {
    const { params: of } = alert;
    if (!of?.story && !of?.act) return alert;
    return { ...alert, params: { ...of, story: of.story && story(of.story), act: of.act && act(of.act) } };
  };
}
