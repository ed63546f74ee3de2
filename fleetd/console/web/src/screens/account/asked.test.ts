import { expect, test } from 'vitest';

import { askedLogin, denied } from './asked';

const good = { port: '40000', state: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', challenge: 'c'.repeat(43), machine: 'laptop' };
const of = (change: Record<string, string>) => askedLogin(`?${new URLSearchParams({ ...good, ...change })}`);

test('the browser goes to a port of this machine only', () => {
  expect(of({})).toEqual({ ...good, port: 40000 });
  expect(denied(of({})!)).toBe('http://127.0.0.1:40000/?state=ABCDEFGHIJKLMNOPQRSTUVWXYZ');
  for (const wrong of [
    { port: '80' },
    { port: '40000@evil.example' },
    { port: '99999' },
    { state: '' },
    { state: 'ABCDEFGHIJKLMNOPQ&code=x' },
    { challenge: 'short' },
    { machine: ' ' },
    { machine: 'm'.repeat(41) },
  ] as Record<string, string>[])
    expect(of(wrong), JSON.stringify(wrong)).toBeUndefined();
});
