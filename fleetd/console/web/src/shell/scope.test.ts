import { beforeEach, expect, test, vi } from 'vitest';

import type { Robot } from '../api/client';

const kept = vi.hoisted(() => new Map<string, string>([['troupe.site', 'museum']]));
vi.stubGlobal('sessionStorage', {
  getItem: (key: string) => kept.get(key) ?? null,
  setItem: (key: string, value: string) => kept.set(key, value),
});
vi.mock('../api/client', () => ({ api: {} }));

const { robots } = await import('../live/robots');
const { useScope } = await import('./scope');

const robot = (id: string, site?: string) => ({ id, labels: site ? { site } : {} }) as unknown as Robot;

beforeEach(() => {
  robots.reset([]);
  useScope.getState().choose('museum');
});

test('a chosen site is kept while a robot has it, and while no robot is known', () => {
  expect(useScope.getState().site).toBe('museum');
  robots.reset([robot('r1', 'museum'), robot('r2')]);
  robots.reset([]);
  expect(useScope.getState().site).toBe('museum');
});

test('a chosen site that no robot has any more gives way to all sites, so that a stop reaches robots', () => {
  robots.reset([robot('r1', 'museum'), robot('r2')]);
  robots.apply([robot('r1')]);
  expect(useScope.getState().site).toBe('');
  expect(kept.get('troupe.site')).toBe('');
});
