import { expect, test } from 'vitest';

import { Problem } from './problem';

const refused = (type: string, detail: string) =>
  Problem.of(new Response(JSON.stringify({ type: `/problems/${type}`, detail }), { status: 409 }));

test('of the refusals 409, only that of another number of robots says so', async () => {
  expect((await refused('count-changed', '3 robots are selected, 2 were expected')).numberChanged).toBe(true);
  expect((await refused('conflict', 'it was changed meanwhile')).numberChanged).toBe(false);
});
