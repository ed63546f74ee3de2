import type { Fields, Kind } from './model';

/** What is dragged from the list of what can be added. */
export interface Dragged {
  fields: Fields;
}

/** The kind of data of a drag within this page. */
export const draggedType = 'application/x-troupe-item';

/** Puts actions or acts into the clipboard, as JSON, so that another window can paste them, too. */
export function copyToClipboard(to: DataTransfer | null, values: readonly Fields[]): void {
  to?.setData('text/plain', JSON.stringify(values, undefined, 1));
}

/** The actions, or the acts of a story, in the clipboard; none if it holds something else. */
export function pasteFrom(from: Pick<DataTransfer, 'getData'> | null, kind: Kind): Fields[] {
  try {
    const values: unknown = JSON.parse(from?.getData('text/plain') ?? '');
    if (!Array.isArray(values)) return [];
    return values.filter(
      (v): v is Fields =>
        typeof v === 'object' && v !== null && typeof (v as Fields)[kind === 'act' ? 'type' : 'act'] === 'string',
    );
  } catch {
    return [];
  }
}
