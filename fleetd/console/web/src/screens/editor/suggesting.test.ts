import { expect, it } from 'vitest';

import type { Robot } from '../../api/client';
import { suggesting } from './suggesting';

const robot = (id: string, status: string) => ({ id, presence: { status } }) as Robot;
const fleet = [robot('r10', 'online'), robot('r1', 'offline'), robot('r2', 'online')];

it('suggests the names of the chosen robot, else of the first connected one', () => {
  expect(suggesting('r1', fleet)).toBe('r1');
  expect(suggesting('', fleet)).toBe('r2');
  expect(suggesting('gone', fleet)).toBe('r2');
  expect(suggesting('', [])).toBe('');
});
