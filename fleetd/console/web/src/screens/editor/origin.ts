import { type Kind, plural } from './model';

/** The draft from whose editor a person came to an act, and to which they go back. */
export interface Origin {
  kind: Kind;
  id: string;
}

/** The address of an act that is opened from another editor. */
export const pathFrom = (act: string, { kind, id }: Origin) => `/acts/${act}?from=${plural[kind]}/${id}`;

/** Reads the origin from the query of an address; what is none is left out. */
export function originOf(query: string): Origin | undefined {
  const [folder, id = ''] = (new URLSearchParams(query).get('from') ?? '').split('/', 2);
  const kind = (Object.keys(plural) as Kind[]).find((k) => plural[k] === folder);
  return kind && /^[a-z0-9][a-z0-9-]{0,62}$/.test(id) ? { kind, id } : undefined;
}
