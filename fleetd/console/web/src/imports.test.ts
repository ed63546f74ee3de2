import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';

import ts from 'typescript';
import { expect, test } from 'vitest';

const root = new URL('.', import.meta.url);
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (f) => /\.tsx?$/.test(f) && !/\.test\./.test(f),
);

/** The files that a file imports, also only for their types or when it needs them. */
function importsOf(file: string): string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(new URL(file, root), 'utf8'));
  return importedFiles
    .filter((i) => i.fileName.startsWith('.'))
    .map((i) => posix.join(posix.dirname(file), i.fileName))
    .flatMap((name) => files.filter((f) => f === `${name}.ts` || f === `${name}.tsx`));
}

const imports = new Map(files.map((f) => [f, importsOf(f)]));

/** The first circle that is found from a file on, which path has led to. */
function circleFrom(file: string, path: string[], done: Set<string>): string[] | undefined {
  if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
  if (done.has(file)) return undefined;
  for (const next of imports.get(file)!) {
    const circle = circleFrom(next, [...path, file], done);
    if (circle) return circle;
  }
  done.add(file);
  return undefined;
}

test('no file imports itself by way of others', () => {
  expect([...imports.values()].flat().length).toBeGreaterThan(1000);
  const done = new Set<string>();
  for (const file of files) expect(circleFrom(file, [], done)).toBeUndefined();
});

/** Folders and files of the console: each imports only of itself and of those before it. */
const layers = ['base.ts', 'contract.ts', 'api', 'text', 'theme.ts', 'live', 'shell', 'screens', 'main.tsx'];
const layerOf = (file: string) => layers.indexOf(file.split('/')[0]!);

test('imports go downwards: the frame knows no screen', () => {
  for (const [file, all] of imports) expect([file, ...all.filter((f) => layerOf(f) > layerOf(file))]).toEqual([file]);
  expect(files.filter((f) => layerOf(f) < 0)).toEqual([]);
});
