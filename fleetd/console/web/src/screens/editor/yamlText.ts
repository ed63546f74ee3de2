import {
  Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  type Node,
  parseDocument,
  Scalar,
  YAMLMap,
} from 'yaml';

import type { Fields } from './model';

const isObject = (v: unknown): v is Fields => typeof v === 'object' && v !== null && !Array.isArray(v);

function same(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) || Array.isArray(b))
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((v, n) => same(v, b[n]));
  if (!isObject(a) || !isObject(b)) return a === b;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((k) => k in b && same(a[k], b[k]));
}

/** Whether the file has a comment, which would be lost if it were written anew. */
export function hasComments(text: string): boolean {
  return /#/.test(text) && [...commentsIn(parseDocument(text))].length > 0;
}

function* commentsIn(of: unknown): Generator<string> {
  if (of instanceof Document) {
    for (const c of [of.commentBefore, of.comment]) if (c) yield c;
    yield* commentsIn(of.contents);
  } else if (isPair(of)) {
    yield* commentsIn(of.key);
    yield* commentsIn(of.value);
  } else if (isNode(of)) {
    for (const c of [of.commentBefore, of.comment]) if (c) yield c;
    if (isMap(of) || isSeq(of)) for (const item of of.items) yield* commentsIn(item);
  }
}

/**
 * Writes a draft into the text of its file. What is unchanged keeps its comments, order and quotes; a list keeps
 * the comments of entries that moved. Returns undefined if the text is not YAML that can be changed in this way.
 */
export function rewrite(text: string, content: Fields): string | undefined {
  const doc = parseDocument(text);
  if (doc.errors.length > 0 || !isMap(doc.contents)) return undefined;
  doc.contents = changed(doc, doc.contents, content) as typeof doc.contents;
  const out = doc.toString({ lineWidth: 0, flowCollectionPadding: false });
  return same(parseDocument(out).toJS(), content) ? out : undefined;
}

/** The node with another value: itself if it can hold it, or else a new one with its comments. */
function changed(doc: Document, node: Node | null, value: unknown): Node {
  if (node && !isAlias(node)) {
    if (isMap(node) && isObject(value)) return changedMap(doc, node, value);
    if (isSeq(node) && Array.isArray(value)) {
      const before = node.items as (Node | null)[];
      const taken = match(
        before.map((n) => (isNode(n) ? n.toJS(doc) : n) as unknown),
        value,
      );
      const flow = before.length > 0 ? before.some((n) => isMap(n) && n.flow) : undefined;
      node.items = value.map((v, n) => {
        const old = taken[n];
        return old === undefined ? made(doc, v, flow) : changed(doc, before[old]!, v);
      });
      return node;
    }
    if (isScalar(node) && !isObject(value) && !Array.isArray(value)) {
      if (node.value === value) return node;
      return withComments(made(doc, value), node);
    }
  }
  const fresh = made(doc, value);
  return node ? withComments(fresh, node) : fresh;
}

function changedMap(doc: Document, node: YAMLMap, value: Fields): YAMLMap {
  const keyOf = (k: unknown) => String(isScalar(k) ? k.value : k);
  node.items = node.items.filter((p) => keyOf(p.key) in value);
  for (const [name, v] of Object.entries(value)) {
    const pair = node.items.find((p) => keyOf(p.key) === name);
    if (pair) pair.value = changed(doc, pair.value as Node | null, v);
    else node.items.push(doc.createPair(name, made(doc, v)));
  }
  return node;
}

function withComments(node: Node, from: Node): Node {
  node.commentBefore = from.commentBefore;
  node.comment = from.comment;
  node.spaceBefore = from.spaceBefore;
  return node;
}

/** Words that readers of YAML 1.1 take for something else than a text. */
const plain = /^(?!(true|false|yes|no|on|off|null|y|n)$)[\p{L}][\p{L}\p{N} _-]*$/iu;

/** A new node. A text that a reader of YAML might take for a number, a date or a mark stands in quotes. */
function made(doc: Document, value: unknown, flow?: boolean): Node {
  const node = doc.createNode(value);
  const quote = (of: unknown) => {
    if (isScalar(of) && typeof of.value === 'string' && !plain.test(of.value)) of.type = Scalar.QUOTE_DOUBLE;
    if (isMap(of))
      for (const pair of of.items) {
        quote(pair.key);
        quote(pair.value);
      }
    if (isSeq(of)) of.items.forEach(quote);
  };
  quote(node);
  if (isMap(node)) node.flow = flow ?? true;
  return node;
}

/** For each new entry of a list, the old one that it was: the equal one, or else the one with the most equal fields. */
function match(before: readonly unknown[], after: readonly unknown[]): (number | undefined)[] {
  const free = new Set(before.keys());
  const out: (number | undefined)[] = after.map((v, n) => {
    const at = same(before[n], v) ? n : [...free].find((k) => same(before[k], v));
    if (at === undefined || !free.delete(at)) return undefined;
    return at;
  });
  after.forEach((v, n) => {
    if (out[n] !== undefined) return;
    let best = 0;
    for (const k of free) {
      const score = likeness(before[k], v);
      if (score > best) [best, out[n]] = [score, k];
    }
    if (out[n] !== undefined) free.delete(out[n]);
  });
  return out;
}

/** How many fields are equal; none if they are of different types. */
function likeness(a: unknown, b: unknown): number {
  if (!isObject(a) || !isObject(b) || a.type !== b.type) return 0;
  return Object.keys(a).filter((k) => same(a[k], b[k])).length;
}
