import { expect, it } from 'vitest';

import type { Entry } from '../library/api';
import { draftActsOf, errorsIn } from './draftActs';

const entry = (id: string, rest: Partial<Entry> = {}) =>
  ({ id, rev: 0, draft_changed: true, problems: [], ...rest }) as unknown as Entry;

it('finds the drafts that a story needs, also those that they perform, and those that were changed', async () => {
  const library = [
    entry('hello'),
    entry('wave'),
    entry('bow', { rev: 2 }),
    entry('nod', { rev: 1, draft_changed: false }),
    entry('other'),
  ];
  const performs: Record<string, string[]> = { hello: ['wave', 'nod'], wave: ['hello'] };
  const get = (id: string) =>
    Promise.resolve({
      ...library.find((a) => a.id === id)!,
      content: { actions: [{ type: 'group', actions: (performs[id] ?? []).map((act) => ({ type: 'act', act })) }] },
    });
  const found = await draftActsOf(['nod', 'hello', 'bow', 'gone'], library, get);
  expect(found.unpublished.map((a) => a.id)).toEqual(['hello', 'wave']);
  expect(found.changed.map((a) => a.id)).toEqual(['bow']);
});

it('counts the errors of an act, but not that it names drafts', () => {
  const problem = (code: string, severity = 'error') => ({ code, severity, pointer: '', detail: '' });
  const problems = [problem('missing'), problem('act_not_published'), problem('unknown_act'), problem('x', 'warning')];
  expect(errorsIn({ problems })).toBe(1);
});
