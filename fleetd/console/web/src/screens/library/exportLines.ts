import { lineOf } from '../../api/lines';
import { type Format } from './files';
import type { Kind } from './api';

/** The line that writes drafts into a file, all without ids, as the link of the console downloads it. */
export function exportLine(kind: Kind, ids: readonly string[], format: Format): string {
  return lineOf('export-library', {
    query: { kind, id: [...ids], format },
    file: `${ids[0] ?? { act: 'acts', story: 'stories', activity: 'activities' }[kind]}.${format}`,
  });
}
