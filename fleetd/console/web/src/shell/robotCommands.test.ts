import { expect, test, vi } from 'vitest';

import type { Robot } from '../api/client';
import { finder, meantRobot, namesVerb } from './robotCommands';

vi.mock('../text/language', () => ({ texts: (en: object) => en }));
const robot = (id: string, name?: string) => ({ id, labels: name ? { name } : {} }) as Pick<Robot, 'id' | 'labels'>;
const known = finder([robot('r1', 'Lina'), robot('r2'), robot('r3', 'Lina  Two'), robot('r4', 'r2')]);

test('a query means the robot that it names, before that of the page', () => {
  expect(meantRobot('pause R2', known, 'r1')).toEqual({ robot: 'r2', words: ['pause'] });
  expect(meantRobot('r2', known)).toEqual({ robot: 'r2', words: [] });
  expect(meantRobot('pause', known, 'r1')).toEqual({ robot: 'r1', words: ['pause'] });
});

test('a query means a robot by its display name too, of however many words, unless two robots have it', () => {
  expect(meantRobot('pause lina', known)).toEqual({ robot: 'r1', words: ['pause'] });
  expect(meantRobot('stop Lina two', known, 'r1')).toEqual({ robot: 'r3', words: ['stop'] });
  expect(meantRobot('r2', known).robot).toBe('r2'); // an id comes before a name
  const alike = finder([robot('r1', 'Lina'), robot('r2', 'lina')]);
  expect(meantRobot('pause lina', alike)).toEqual({ robot: undefined, words: ['pause', 'lina'] });
});

test('a query that names no robot means none outside of the page of one', () => {
  expect(meantRobot('pause r22', known)).toEqual({ robot: undefined, words: ['pause', 'r22'] });
  expect(meantRobot(' ', known)).toEqual({ robot: undefined, words: [] });
});

test('three letters that begin a word of a command put it before pages and robots', () => {
  expect(namesVerb(['pau'], 'pause')).toBe(true);
  expect(namesVerb(['auto', 'r1'], 'switch automatic')).toBe(true);
  expect(namesVerb(['s'], 'stop')).toBe(false); // Enter opens a page that begins with s
  expect(namesVerb(['use'], 'pause')).toBe(false);
  expect(namesVerb([], 'pause')).toBe(false);
});
