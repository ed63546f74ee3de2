import { readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import type { Robot } from '../../api/client';
import { everything, type Filter, filterOf, matcher, queryOf, selectorOf } from './filter';

interface Case {
  selector: { story_state?: Filter['storyState'] } & Partial<Omit<Filter, 'storyState'>>;
  want: string[];
}

interface Row {
  labels: Record<string, string>;
  doing: string;
  mode: string;
  presence: string;
  story?: string;
  assigned?: string;
  storyState: string;
}

// fleetd tests its selectors with the same cases.
const file = JSON.parse(
  readFileSync(new URL('../../../../../selector/testdata/match.json', import.meta.url), 'utf8'),
) as { robots: Record<string, Row>; cases: Case[] };

const desired: Record<string, object> = {
  none: { converged: true },
  current: { story: {}, converged: true },
  pending: { story: {}, converged: false, phase: 'fetching' },
  refused: { story: {}, converged: false, phase: 'rejected' },
};

const fleet = Object.entries(file.robots).map(
  ([id, r]) =>
    ({
      ...r,
      id,
      presence: { status: r.presence },
      story: r.story ? { id: r.story } : undefined,
      desired: { ...desired[r.storyState], ...(r.assigned ? { story: { id: r.assigned } } : {}) },
    }) as unknown as Robot,
);

test.each(file.cases)('$selector selects $want', ({ selector: { story_state, ...rest }, want }) => {
  const f: Filter = { ...everything, ...rest, storyState: story_state ?? [] };
  expect(fleet.filter(matcher(f)).map((r) => r.id)).toEqual(want);
  expect(filterOf(queryOf(f))).toEqual(f);
  expect(JSON.parse(JSON.stringify(selectorOf(f)))).toEqual({ ...rest, ...(story_state ? { story_state } : {}) });
});

test('no filter selects all robots, and never an empty selector', () => {
  expect(selectorOf(everything)).toEqual({ all: true });
  expect(selectorOf({ ...everything, text: '  ' })).toEqual({ all: true });
});

test('a tone stands for what robots do that have it', () => {
  expect(filterOf(new URLSearchParams('tone=good')).doing).toEqual(['performing', 'activity', 'interrupt']);
});
