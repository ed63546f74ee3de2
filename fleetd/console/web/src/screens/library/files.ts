import { addressOf } from '../../base';
import type { Kind } from '../editor/model';

export type Format = 'yaml' | 'zip' | 'csv';

/** Where entries are downloaded as files; without ids all of the kind. */
export function exportURL(kind: Kind, ids: readonly string[], format: Format): string {
  const query = new URLSearchParams([['kind', kind], ['format', format], ...ids.map((id) => ['id', id])]);
  return addressOf(`/api/v1/library/export?${query.toString()}`);
}
