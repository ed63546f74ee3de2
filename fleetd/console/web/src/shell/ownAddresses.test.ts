import { expect, test } from 'vitest';

import { OwnAddresses } from './ownAddresses';

test('an address that is shown after the next one was written is no reason to read the fields from it', () => {
  const own = new OwnAddresses('');
  own.write('q=a');
  own.write('q=ab');
  expect(own.isForeign('q=a')).toBe(false);
  expect(own.newest).toBe('q=ab');
  expect(own.isForeign('q=ab')).toBe(false);
});

test('an address of a link, and one that was left before, are read into the fields', () => {
  const own = new OwnAddresses('');
  own.write('q=a');
  own.write('q=ab');
  expect(own.isForeign('q=ab')).toBe(false); // the router left one out
  expect(own.isForeign('q=a')).toBe(true);
  own.write('q=b');
  expect(own.isForeign('site=x')).toBe(true);
  expect(own.newest).toBe('site=x');
  expect(own.isForeign('q=b')).toBe(true); // the button Back
});

test('nothing is left of addresses that the router left out', () => {
  const own = new OwnAddresses('');
  for (const q of ['q=a', 'q=', 'q=a']) own.write(q);
  expect(own.isForeign('q=a')).toBe(false);
  expect(own.isForeign('q=')).toBe(true);
});
