import { useQuery, useQueryClient } from '@tanstack/react-query';

import { addressOf } from '../../base';
import { api, data, type Schemas } from '../../api/client';
import { type Kind, plural } from '../../api/kinds';
import { entriesOf, type Entry, nameOf, useNameOf } from '../../live/entries';
import type { Fields } from '../editor/model';
import type { Format } from './files';

export { entriesOf, type Entry, type Kind, nameOf, useNameOf };
export type Saved = Schemas['Saved'];
export type Deletion = Schemas['Deletion'];
export type Uses = Schemas['Uses'];
export type Timeline = Schemas['Timeline'];
export type Validity = Schemas['Validity'];
export type Finding = Schemas['Validity']['problems'][number];

export const isDeleted = (e: Pick<Entry, 'deleted_at'>) => !!e.deleted_at && Date.parse(e.deleted_at) > 0;

// The three kinds have the same requests; the types of acts stand for all.
const one = (kind: Kind) => `/api/v1/${plural[kind]}/{id}` as '/api/v1/acts/{id}';

export const entryOf = (kind: Kind, id: string) => data(api.GET(one(kind), { params: { path: { id } } }));

export function useEntries(kind: Kind, deleted = false) {
  return useQuery({
    queryKey: ['library', kind, { deleted }],
    queryFn: () => entriesOf(kind, deleted),
  });
}

export function useEntry(kind: Kind, id: string) {
  return useQuery({
    queryKey: ['library', kind, id],
    queryFn: () => entryOf(kind, id),
    refetchOnWindowFocus: false,
  });
}

/** An entry as it is now, for an editor that begins with it. */
export function useEntryAtOnce(kind: Kind, id: string) {
  return useQuery({
    queryKey: ['edit', kind, id],
    queryFn: () => entryOf(kind, id),
    staleTime: Infinity,
    gcTime: 0,
  });
}

/** Returns a function that makes every list and entry be read again. */
export function useRefresh() {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: ['library'] });
}

/** Saves a draft over the revision that was read; 0 for a new one. fleetd stores it as YAML. */
export async function save(kind: Kind, id: string, content: Fields, over: number | '*'): Promise<Saved> {
  return data(
    api.PUT(one(kind), {
      params: { path: { id }, query: { format: 'yaml' }, header: { 'If-Match': over === '*' ? '*' : `"${over}"` } },
      body: JSON.stringify(content),
      headers: { 'Content-Type': 'application/json' },
      bodySerializer: (text) => text as string,
    }),
  );
}

/** Saves a draft as its author wrote it. */
export async function saveText(kind: Kind, id: string, text: string, over: number | '*'): Promise<Saved> {
  return data(
    api.PUT(one(kind), {
      params: { path: { id }, header: { 'If-Match': over === '*' ? '*' : `"${over}"` } },
      body: text,
      headers: { 'Content-Type': 'application/yaml' },
      bodySerializer: (t) => t as string,
    }),
  );
}

/** Publishes a draft, and before it the drafts of these acts, all or none. */
export const publish = (
  kind: Kind,
  id: string,
  over: number,
  body: Schemas['ToPublish'],
): Promise<Schemas['PublishedWith']> =>
  data(
    api.POST(`${one(kind)}/publish` as '/api/v1/acts/{id}/publish', {
      params: { path: { id }, header: { 'If-Match': `"${over}"` } },
      body,
    }),
  );

export const duplicate = (kind: Kind, id: string, to: string): Promise<Saved> =>
  data(
    api.POST(`${one(kind)}/duplicate` as '/api/v1/acts/{id}/duplicate', { params: { path: { id } }, body: { id: to } }),
  );

export const restore = (kind: Kind, id: string, rev: number, over: number): Promise<Saved> =>
  data(
    api.POST(`${one(kind)}/revisions/{rev}/restore` as '/api/v1/acts/{id}/revisions/{rev}/restore', {
      params: { path: { id, rev }, header: { 'If-Match': `"${over}"` } },
      body: {},
    }),
  );

export const recover = (kind: Kind, id: string): Promise<Saved> =>
  data(api.POST(`${one(kind)}/recover` as '/api/v1/acts/{id}/recover', { params: { path: { id } }, body: {} }));

/** What deleting would change. */
export const impactOf = (kind: Kind, id: string): Promise<Deletion> =>
  data(api.DELETE(one(kind), { params: { path: { id }, query: { dry_run: true } } }));

/** The parameters with which something is deleted if the effects are still those of the impact. */
export const removal = (impact: Deletion, why: string) => ({
  expected_stories: impact.stories?.length ?? 0,
  expected_activities: impact.activities?.length ?? 0,
  expected_robots: impact.robots,
  clear: impact.clears ?? [],
  why,
});

export const remove = (kind: Kind, id: string, impact: Deletion, why: string): Promise<Deletion> =>
  data(api.DELETE(one(kind), { params: { path: { id }, query: removal(impact, why) } }));

export const usesOf = (kind: Kind, id: string): Promise<Uses> =>
  data(api.GET(`${one(kind)}/uses` as '/api/v1/acts/{id}/uses', { params: { path: { id } } }));

export const validate = async (kind: Kind, text: string): Promise<Validity> =>
  (await data(api.POST('/api/v1/library/validate', { body: { texts: [{ kind, text }] } }))).results![0]!;

/** The timeline of a text, with the action of each bar. */
export const timelineOf = (kind: Kind, text: string, lang?: string): Promise<Timeline> =>
  data(api.POST('/api/v1/library/timeline', { body: { kind, text, lang, actions: true } }));

/** The content of a published revision: an act, or a story or an activity without its acts. */
export async function contentOf(kind: Kind, id: string, rev: number): Promise<Fields> {
  const answer = await fetch(addressOf(`/api/v1/${plural[kind]}/${encodeURIComponent(id)}/revisions/${rev}`));
  if (!answer.ok) throw new Error(`fleetd answered ${answer.status}`);
  const body = (await answer.json()) as Fields;
  if (kind === 'act') return body;
  if (kind === 'story') return body.story as Fields;
  return (body.activities as Fields[])[0]!;
}

export type Import = Schemas['Import'];

/** What a file is, by its name. */
export function formatOf(name: string): Format {
  const end = name.toLowerCase().split('.').pop();
  return end === 'csv' || end === 'zip' ? end : 'yaml';
}

/** What columns of a list are, as fleetd takes it. */
export const mapsOf = (mapped: Record<string, string>) =>
  Object.entries(mapped).map(([header, field]) => `${header}=${field}`);

/** Imports a file, without what is wrong if asked, or only shows what that would do. */
export async function importFile(
  file: File,
  mapped: Record<string, string>,
  how: { dry: boolean; skipWrong: boolean },
): Promise<Import> {
  return data(
    api.POST('/api/v1/library/import', {
      params: {
        query: {
          format: formatOf(file.name),
          dry_run: how.dry,
          skip_wrong: how.skipWrong,
          map: mapsOf(mapped),
        },
      },
      body: file as unknown as string,
      headers: { 'Content-Type': 'application/octet-stream' },
      bodySerializer: (b) => b as unknown as BodyInit,
    }),
  );
}
