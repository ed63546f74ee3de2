import type { Schemas } from '../api/client';

export type FleetLink = Schemas['FleetLink'];

/** The fleet whose console this is: the address of the page is below its own. Undefined if fleetd lists it under another address. */
export const fleetAt = (fleets: readonly FleetLink[], address: string): FleetLink | undefined =>
  fleets.find((f) => address === f.url || address.startsWith(f.url + '/'));

/**
 * The address of a page in the console of another fleet. What the page is about, such as a robot, is left out: the other
 * fleet may have another one with the same name.
 *
 * @param screens paths of the screens of the navigation
 */
export function pageAt(fleet: FleetLink, path: string, screens: readonly string[]): string {
  const below = (screen: string) => path === screen || (screen !== '/' && path.startsWith(screen + '/'));
  const screen = screens.filter(below).sort((a, b) => b.length - a.length)[0];
  return fleet.url + (screen ?? '/');
}
