import type { UnitKind } from '../contract';

/** The first unit of a kind; undefined if there is none. */
export function unitOf<U extends { kind: string }>(units: readonly U[] | undefined, kind: UnitKind): U | undefined {
  return units?.find((u) => u.kind === kind);
}
