import { useQuery } from '@tanstack/react-query';

import { api, data } from '../../api/client';
import type { Item, Kind } from './model';

/** The part of JSON Schema that the schemas of authors use. */
export interface Schema {
  type?: string;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  enum?: string[];
  const?: string;
  oneOf?: Schema[];
  items?: Schema;
  additionalProperties?: Schema | boolean;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  pattern?: string;
  examples?: unknown[];
  $ref?: string;
  $defs?: Record<string, Schema>;
}

/** The schema of the files of a kind, as fleetd validates them. */
export function useSchema(kind: Kind): Schema | undefined {
  return useQuery({
    queryKey: ['schema', kind],
    queryFn: async () => {
      const id = kind === 'activity' ? 'activities' : kind;
      const body: unknown = await data(api.GET('/api/v1/schemas/{id}', { params: { path: { id } }, parseAs: 'json' }));
      return body as Schema;
    },
    staleTime: Infinity,
  }).data;
}

export function resolve(root: Schema, s: Schema): Schema {
  const name = s.$ref?.split('/').pop();
  return name ? { ...root.$defs?.[name], ...s, $ref: undefined } : s;
}

/** The schema of the fields of an item. */
export function schemaOf(root: Schema, kind: Kind, item: Item): Schema | undefined {
  return root.$defs?.[kind === 'act' ? `action-${String(item.fields.type)}` : 'step'];
}

/** The types of actions, in the order of the schema. */
export const actionTypes = (root: Schema): string[] => root.$defs?.action?.properties?.type?.enum ?? [];
