import { expect, test } from 'vitest';

import { nextOf } from './next';

test('after the sign-in nobody leaves the console', () => {
  expect(nextOf('')).toBe('/');
  expect(nextOf('?next=%2Frobots%3Fq%3Dr1')).toBe('/robots?q=r1');
  expect(nextOf('?next=https%3A%2F%2Fevil.example%2F')).toBe('/');
  expect(nextOf('?next=%2F%2Fevil.example%2F')).toBe('/');
  expect(nextOf('?next=%2F%5Cevil.example')).toBe('/');
  expect(nextOf('?next=javascript%3Aalert(1)')).toBe('/');
  expect(nextOf('?next=%2Fsign-in')).toBe('/');
});
