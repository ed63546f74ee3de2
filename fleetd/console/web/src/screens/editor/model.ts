/**
 * What the editor edits, without a screen: the list of actions of an act, or of acts of a
 * story or an activity, with operations on it, the places of problems, and undo.
 */

import { type Kind, plural } from '../../api/kinds';

export { type Kind, plural };

export type Fields = Record<string, unknown>;

/** One entry of the list. A group has children. The key stays while the item is moved. */
export interface Item {
  key: string;
  fields: Fields;
  children?: Item[];
}

/** A draft: the fields of the whole, and its list. */
export interface Doc {
  head: Fields;
  items: Item[];
}

/** A place in the list: before the item at index, in the list of a group or the top one. */
export interface Position {
  parent?: string;
  index: number;
}

/** The field that holds the list. */
export const listField = (kind: Kind) => (kind === 'act' ? 'actions' : 'acts');

let made = 0;
const newKey = () => `i${++made}`;

/** Makes an item of an action or a step. */
export function itemOf(value: Fields): Item {
  const { actions, ...fields } = value;
  if (fields.type !== 'group') return { key: newKey(), fields: { ...value } };
  return { key: newKey(), fields, children: ((actions as Fields[] | undefined) ?? []).map(itemOf) };
}

/** Reads a draft as fleetd sends it. Actions are listed in the order of their times. */
export function read(kind: Kind, content: Fields): Doc {
  const { [listField(kind)]: list, ...head } = content;
  const doc = { head, items: ((list as Fields[] | undefined) ?? []).map(itemOf) };
  return kind === 'act' ? { ...doc, items: sorted(doc.items) } : doc;
}

const valueOf = (i: Item): Fields => (i.children ? { ...i.fields, actions: i.children.map(valueOf) } : i.fields);

/** Writes a draft for fleetd. */
export function write(kind: Kind, doc: Doc): Fields {
  return { ...doc.head, [listField(kind)]: doc.items.map(valueOf) };
}

/** Calls visit for every item with its pointer, groups before their children. */
function walk(
  kind: Kind,
  items: readonly Item[],
  visit: (i: Item, pointer: string, depth: number) => void,
  base = `/${listField(kind)}`,
  depth = 0,
): void {
  items.forEach((i, n) => {
    const pointer = `${base}/${n}`;
    visit(i, pointer, depth);
    if (i.children) walk(kind, i.children, visit, `${pointer}/actions`, depth + 1);
  });
}

/** The rows that a list shows. */
export function flat(kind: Kind, doc: Doc): { item: Item; pointer: string; depth: number }[] {
  const out: { item: Item; pointer: string; depth: number }[] = [];
  walk(kind, doc.items, (item, pointer, depth) => out.push({ item, pointer, depth }));
  return out;
}

/** The acts that a draft names, each once. */
export function actsOf(kind: Kind, doc: Doc): string[] {
  const found = [doc.head.shutdown, ...flat(kind, doc).map((r) => r.item.fields.act)];
  return [...new Set(found.filter((a): a is string => typeof a === 'string' && a !== ''))];
}

/** Where a problem is: the item and the field in it, or a field of the head. */
export interface Spot {
  key?: string;
  field: string;
}

/** Finds the place of a JSON pointer. */
export function locate(kind: Kind, doc: Doc, pointer: string): Spot {
  let best: Spot = { field: pointer.split('/')[1] ?? '' };
  let longest = 0;
  walk(kind, doc.items, (i, p) => {
    if ((pointer === p || pointer.startsWith(`${p}/`)) && p.length > longest) {
      longest = p.length;
      best = { key: i.key, field: pointer.slice(p.length + 1).split('/')[0] ?? '' };
    }
  });
  return best;
}

export function find(doc: Doc, key: string | undefined): Item | undefined {
  const search = (items: readonly Item[]): Item | undefined => {
    for (const i of items) {
      const hit = i.key === key ? i : i.children && search(i.children);
      if (hit) return hit;
    }
    return undefined;
  };
  return key === undefined ? undefined : search(doc.items);
}

/** Where an item is. */
export function positionOf(doc: Doc, key: string): Position | undefined {
  const search = (items: readonly Item[], parent?: string): Position | undefined => {
    const index = items.findIndex((i) => i.key === key);
    if (index >= 0) return { parent, index };
    for (const i of items) {
      const hit = i.children && search(i.children, i.key);
      if (hit) return hit;
    }
    return undefined;
  };
  return search(doc.items);
}

const siblings = (doc: Doc, parent?: string): Item[] => (parent ? (find(doc, parent)?.children ?? []) : doc.items);

/** Replaces the list of a group, or the top one. */
function withList(doc: Doc, parent: string | undefined, change: (list: Item[]) => Item[]): Doc {
  if (!parent) return { ...doc, items: change(doc.items) };
  const deep = (items: Item[]): Item[] =>
    items.map((i) =>
      i.key === parent
        ? { ...i, children: change(i.children ?? []) }
        : i.children
          ? { ...i, children: deep(i.children) }
          : i,
    );
  return { ...doc, items: deep(doc.items) };
}

const startOf = (i: Item) => Number(i.fields.start_ms ?? 0);

/** How long an item lasts as its fields say; an action that ends when it is done counts as its guess. */
export function lengthOf(i: Item): number {
  if (typeof i.fields.end_ms === 'number') return Math.max(0, i.fields.end_ms - startOf(i));
  if (i.children) return Math.max(0, ...i.children.map((c) => startOf(c) + lengthOf(c)));
  if (typeof i.fields.timeout_ms !== 'number') return 0;
  const text = Object.values((i.fields.text as Record<string, string> | undefined) ?? {});
  const rate = Number(i.fields.rate) || 1;
  const guess =
    i.fields.type === 'say'
      ? Math.max(0, ...text.map((t) => Math.round((t.length * 1000) / 14 / rate)))
      : (guesses[String(i.fields.type)] ?? 1000);
  return Math.min(guess, i.fields.timeout_ms);
}

/** ms that fleetd, too, assumes for actions that end when they are done. */
const guesses: Record<string, number> = {
  sound: 3000,
  head: 1500,
  screen: 10_000,
  motion: 3000,
  pose: 2000,
  goto: 15_000,
};

/** Starts an item at another time; it lasts as long as before. */
function startAt(i: Item, start: number): Item {
  const fields: Fields = { ...i.fields, start_ms: start };
  if (typeof fields.end_ms === 'number') fields.end_ms = start + lengthOf(i);
  return { ...i, fields };
}

/** Types that perform beside others of their type. */
const sharing = new Set(['sound', 'wait', 'group', 'act']);
const bodily = new Set(['motion', 'pose', 'goto', 'drive']);

const competes = (a: Item, b: Item) => {
  const [of, to] = [String(a.fields.type), String(b.fields.type)];
  return a.fields.unit === b.fields.unit && ((of === to && !sharing.has(of)) || (bodily.has(of) && bodily.has(to)));
};

/** The first time from ms on at which nothing in the list performs with the unit of an item while it lasts. */
function freeFrom(list: readonly Item[], item: Item, ms: number): number {
  let start = ms;
  for (const other of sorted(list.filter((o) => competes(item, o)))) {
    const end = startOf(other) + lengthOf(other);
    if (end > start && startOf(other) < start + Math.max(1, lengthOf(item))) start = end;
  }
  return start;
}

const sorted = (items: Item[]): Item[] => [...items].sort((a, b) => startOf(a) - startOf(b));

/** Inserts items. Actions start when the one before them is expected to end, and their unit is free. */
export function insert(kind: Kind, doc: Doc, at: Position, items: Item[]): Doc {
  const list = siblings(doc, at.parent);
  const before = list[at.index - 1];
  let clock = before ? startOf(before) + lengthOf(before) : 0;
  const placed =
    kind === 'act'
      ? items.map((i) => {
          const out = startAt(i, freeFrom(list, i, clock));
          clock = startOf(out) + lengthOf(out);
          return out;
        })
      : items;
  return withList(doc, at.parent, () => {
    const all = [...list.slice(0, at.index), ...placed, ...list.slice(at.index)];
    return kind === 'act' ? sorted(all) : all;
  });
}

/** Inserts items so that the first begins at a time of the act, and the others as long after it as they were. */
export function insertAt(doc: Doc, ms: number, items: Item[]): Doc {
  const first = Math.min(...items.map(startOf));
  return { ...doc, items: sorted([...doc.items, ...items.map((i) => startAt(i, ms + startOf(i) - first))]) };
}

/** The least duration of an action that is stretched, in ms. */
export const shortest = 100;

/** The start of an item from the start of the act, in ms. */
export function beginOf(doc: Doc, key: string): number {
  let begin = 0;
  for (let k: string | undefined = key; k; k = positionOf(doc, k)?.parent) begin += startOf(find(doc, k)!);
  return begin;
}

/** Begins items so many ms later, or earlier; together, so that none begins before its group does. */
export function shift(doc: Doc, keys: readonly string[], by: number): Doc {
  const moved = inOrder('act', doc, keys);
  const delta = Math.max(by, -Math.min(...moved.map(startOf)));
  if (moved.length === 0 || delta === 0) return doc;
  const deep = (items: Item[]): Item[] =>
    sorted(
      items.map((i) =>
        moved.includes(i) ? startAt(i, startOf(i) + delta) : i.children ? { ...i, children: deep(i.children) } : i,
      ),
    );
  return { ...doc, items: deep(doc.items) };
}

/** The field that says when an action ends, or until when at most; undefined if it takes effect at once, or is a group. */
export const endField = (i: Item): 'end_ms' | 'timeout_ms' | undefined =>
  typeof i.fields.end_ms === 'number' ? 'end_ms' : typeof i.fields.timeout_ms === 'number' ? 'timeout_ms' : undefined;

/** Ends items so many ms later, or earlier. One that ends when its unit is done gets more time, or less. */
export function stretch(doc: Doc, keys: readonly string[], by: number): Doc {
  let out = doc;
  for (const key of keys) {
    const item = find(out, key);
    const field = item && endField(item);
    if (!item || !field) continue;
    const least = field === 'end_ms' ? startOf(item) + shortest : shortest;
    out = setField('act', out, key, field, Math.max(least, Number(item.fields[field]) + by));
  }
  return out;
}

/** The values of items, to be inserted again with itemOf; without their ids, which are unique in an act. */
export const copied = (kind: Kind, doc: Doc, keys: readonly string[]): Fields[] =>
  inOrder(kind, doc, keys).map((i) =>
    withoutIDs(
      valueOf({
        ...i,
        fields: { ...i.fields, ...(kind === 'act' && { start_ms: beginOf(doc, i.key), ...endAfterBegin(doc, i) }) },
      }),
    ),
  );

const endAfterBegin = (doc: Doc, i: Item): Fields =>
  typeof i.fields.end_ms === 'number' ? { end_ms: beginOf(doc, i.key) + lengthOf(i) } : {};

/** The place behind what is selected, or at the end. */
export function positionAfter(doc: Doc, selected: readonly string[]): Position {
  const last = selected.length > 0 ? positionOf(doc, selected[selected.length - 1]!) : undefined;
  return last ? { parent: last.parent, index: last.index + 1 } : { index: doc.items.length };
}

export function remove(doc: Doc, keys: readonly string[]): Doc {
  const deep = (items: Item[]): Item[] =>
    items.filter((i) => !keys.includes(i.key)).map((i) => (i.children ? { ...i, children: deep(i.children) } : i));
  return { ...doc, items: deep(doc.items) };
}

/** Copies items; the copies stand behind the last of them. */
export function duplicate(kind: Kind, doc: Doc, keys: readonly string[]): { doc: Doc; keys: string[] } {
  const chosen = inOrder(kind, doc, keys);
  const copies = chosen.map((i) => itemOf(withoutIDs(valueOf(i))));
  if (copies.length === 0) return { doc, keys: [] };
  return {
    doc: insert(kind, doc, positionAfter(doc, [chosen[chosen.length - 1]!.key]), copies),
    keys: copies.map((i) => i.key),
  };
}

/** Ids are unique in an act, so a copy has none. */
function withoutIDs(value: Fields): Fields {
  const { id: _, ...rest } = value;
  return Array.isArray(rest.actions) ? { ...rest, actions: (rest.actions as Fields[]).map(withoutIDs) } : rest;
}

/** The items with these keys, in the order of the list, without those in a group that is itself chosen. */
function inOrder(kind: Kind, doc: Doc, keys: readonly string[]): Item[] {
  const out: Item[] = [];
  const inside = new Set<string>();
  walk(kind, doc.items, (i) => {
    if (keys.includes(i.key) && !inside.has(i.key)) out.push(i);
    if (inside.has(i.key) || keys.includes(i.key)) i.children?.forEach((c) => inside.add(c.key));
  });
  return out;
}

/**
 * Moves items to a place; index counts in the list without them. In an act the times stay where
 * they are: an action that moves up gets the start of its new place, and keeps its duration.
 */
export function move(kind: Kind, doc: Doc, keys: readonly string[], to: Position): Doc {
  const moved = inOrder(kind, doc, keys);
  if (moved.length === 0 || (to.parent && moved.some((i) => find({ head: {}, items: [i] }, to.parent)))) return doc;
  const sameList = moved.every((i) => positionOf(doc, i.key)?.parent === to.parent);
  if (kind === 'act' && !sameList) return insert(kind, remove(doc, keys), to, moved);
  const starts = siblings(doc, to.parent).map(startOf);
  return withList(remove(doc, keys), to.parent, (list) => {
    const all = [...list.slice(0, to.index), ...moved, ...list.slice(to.index)];
    return kind === 'act'
      ? all.map((i, n) => (startOf(i) === starts[n] ? i : startAt(i, starts[n] ?? startOf(i))))
      : all;
  });
}

/** Moves items up (-1) or down (1) by one place in their list. */
export function moveBy(kind: Kind, doc: Doc, keys: readonly string[], by: -1 | 1): Doc {
  const chosen = inOrder(kind, doc, keys);
  const positions = chosen.map((i) => positionOf(doc, i.key)!);
  const first = positions[0];
  if (!first || positions.some((p) => p.parent !== first.parent)) return doc;
  const count = siblings(doc, first.parent).length;
  const index = Math.min(...positions.map((p) => p.index)) + by;
  if (index < 0 || index + chosen.length > count) return doc;
  return move(kind, doc, keys, { parent: first.parent, index });
}

/** Puts actions of one list into a new group, in which they run beside each other at the same times. */
export function group(doc: Doc, keys: readonly string[]): { doc: Doc; key?: string } {
  const chosen = inOrder('act', doc, keys);
  const first = chosen[0] && positionOf(doc, chosen[0].key);
  if (!first || chosen.some((i) => positionOf(doc, i.key)?.parent !== first.parent)) return { doc };
  const start = Math.min(...chosen.map(startOf));
  const made: Item = {
    key: newKey(),
    fields: { type: 'group', start_ms: start },
    children: chosen.map((i) => startAt(i, startOf(i) - start)),
  };
  return {
    doc: withList(remove(doc, keys), first.parent, (list) =>
      sorted([...list.slice(0, first.index), made, ...list.slice(first.index)]),
    ),
    key: made.key,
  };
}

/** Puts the actions of a group into the list around it. */
export function ungroup(doc: Doc, key: string): Doc {
  const g = find(doc, key);
  const at = positionOf(doc, key);
  if (!g?.children || !at) return doc;
  const freed = g.children.map((c) => startAt(c, startOf(c) + startOf(g)));
  return withList(doc, at.parent, (list) => sorted(list.flatMap((i) => (i.key === key ? freed : [i]))));
}

const without = (fields: Fields, name: string): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([k]) => k !== name));

/** Sets a field of an item; undefined removes it. An action whose start changes keeps its duration. */
export function setField(kind: Kind, doc: Doc, key: string, name: string, value: unknown): Doc {
  const at = positionOf(doc, key);
  if (!at) return doc;
  return withList(doc, at.parent, (list) => {
    const all = list.map((i) => {
      if (i.key !== key) return i;
      if (name === 'start_ms' && typeof value === 'number') return startAt(i, value);
      return { ...i, fields: value === undefined ? without(i.fields, name) : { ...i.fields, [name]: value } };
    });
    return kind === 'act' && name === 'start_ms' ? sorted(all) : all;
  });
}

/** Sets a field of the whole; undefined removes it. */
export function setHead(doc: Doc, name: string, value: unknown): Doc {
  return { ...doc, head: value === undefined ? without(doc.head, name) : { ...doc.head, [name]: value } };
}
