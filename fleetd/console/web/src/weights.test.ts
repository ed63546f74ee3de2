import { readdirSync, readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

const root = new URL('.', import.meta.url);
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((f) => /\.(tsx|css)$/.test(f));

/** Where 600 is meant: the stop, which must be found first. Headings have it from theme.ts. */
const heavy = ['shell/StopButton.tsx', 'screens/manual/BigStop.tsx'];

test('text is 400 or 500; only headings and the stop are 600, and nothing is heavier', () => {
  const found = files
    .flatMap((f) =>
      [
        ...readFileSync(new URL(f, root), 'utf8').matchAll(
          /(?:fw[=:]|font-weight:|fontWeight:?)[^\n>,;]*?([6-9]00|bold)/g,
        ),
      ].map((m) => `${f}: ${m[1]}`),
    )
    .filter((f) => !heavy.some((h) => f === `${h}: 600`));
  expect(files.length).toBeGreaterThan(200);
  expect(found).toEqual([]);
});
