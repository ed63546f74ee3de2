import { readFileSync } from 'node:fs';

import { expect, test, vi } from 'vitest';

import { type RightWithRoles, rolesWith, useRightTexts } from './rights';

vi.mock('./language', () => ({ texts: (en: object) => en }));
const t = useRightTexts as unknown as ReturnType<typeof useRightTexts>;

/** What needs each right: operations of the API, and verbs of commands. */
const needs: Record<RightWithRoles, string[]> = {
  stop: ['stop', 'safety/stop'],
  release_stops: ['release-stops'],
  command: ['mode/set', 'auto/pause', 'safety/enable', 'sys/ack-fault'],
  manual: ['control/acquire', 'drive'],
  records: ['ask-record'],
  assign: ['assign', 'desired'],
  administer: ['set-labels', 'label-robots', 'adopt-robot'],
};

// A test of fleetd/api writes this page from what requests of each role come to.
const page = readFileSync(new URL('../../../../../docs/roles.md', import.meta.url), 'utf8').split('\n');

/** The roles that may do it. */
function rolesOf(what: string): string[] {
  const at = page.findIndex((l) => l.startsWith(`| \`${what}\` |`));
  const cells = (line: string) => line.split('|').map((c) => c.trim());
  const roles = cells(page.slice(0, at).findLast((l) => l.includes('| viewer |'))!);
  const may = cells(page[at]!);
  return roles.filter((_, n) => may[n] === 'x');
}

test('the roles that the console names have the right', () => {
  for (const right of Object.keys(needs) as RightWithRoles[])
    for (const what of needs[right])
      expect([right, what, ...rolesOf(what)]).toEqual([right, what, ...rolesWith[right]]);
});

test('what a person lacks is said with the roles that have it', () => {
  expect(t.lacks('release stops', 'release_stops')).toMatch(/release stops\. The roles operator and admin have it\.$/);
  expect(t.lacks('stop robots', 'stop')).toMatch(/The roles operator, author, releaser and admin have it\.$/);
  expect(t.lacks('change labels', 'administer')).toMatch(/The role admin has it\.$/);
});
