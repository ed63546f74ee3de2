import { expect, it } from 'vitest';

import { fleetAt, pageAt } from './fleets';

const museum = { name: 'Museum', url: 'https://museum.example' };
const lobby = { name: 'Lobby', url: 'https://lobby.example/troupe' };

it('knows the fleet of a page by its address', () => {
  const fleets = [museum, lobby];
  expect(fleetAt(fleets, 'https://museum.example/robots')).toBe(museum);
  expect(fleetAt(fleets, 'https://lobby.example/troupe')).toBe(lobby);
  expect(fleetAt(fleets, 'https://lobby.example/other')).toBeUndefined();
  expect(fleetAt(fleets, 'https://museum.example.org/')).toBeUndefined();
});

it('keeps the screen, and not what it is about', () => {
  const screens = ['/', '/robots', '/stories', '/sounds'];
  for (const [path, want] of [
    ['/', '/'],
    ['/robots', '/robots'],
    ['/robots/r1/manual', '/robots'],
    ['/stories/welcome', '/stories'],
    ['/account', '/'],
  ] as const)
    expect(pageAt(lobby, path, screens)).toBe('https://lobby.example/troupe' + want);
});
