import { create } from 'zustand';

import { api, type LatchedStop, type Robot, type Schemas } from '../api/client';

type StopBody = Schemas['LatchStopRequest'];

/** Whom a stop means. */
export type Whom = { robot: string } | { site: string } | 'all';

const why = 'Stop pressed in the console';

/** The request that stops them. */
export function stopRequest(whom: Whom): { body: StopBody } {
  const selector =
    whom === 'all'
      ? { all: true }
      : 'robot' in whom
        ? { ids: [whom.robot] }
        : { labels: [{ key: 'site', value: whom.site }] };
  return { body: { selector, why } };
}

/** ms after which a stop that was released and is still latched on robots is offered for release again. */
const releaseSeen = 10_000;

/** The stops whose release fleetd has accepted, and robots may not have reported yet. */
export const useReleasing = create<{ ids: readonly string[] }>()(() => ({ ids: [] }));

/** Releases latched stops. Robots then still need to be enabled. */
export async function release(ids: string[], reason: string): Promise<void> {
  await api.POST('/api/v1/stops/release', { body: { ids, why: reason } });
  useReleasing.setState((s) => ({ ids: [...s.ids, ...ids] }));
  setTimeout(() => useReleasing.setState((s) => ({ ids: s.ids.filter((id) => !ids.includes(id)) })), releaseSeen);
}

/** The ids of the robots on which a stop is latched, as far as robots report it. */
export function heldBy(id: string, robots: readonly Robot[]): string[] {
  return robots.filter((r) => r.latches.some((l) => l.id === id)).map((r) => r.id);
}

/** ms within which a robot reports a stop that reaches it. */
const reported = 5000;

/** Whether a stop means this robot and no other, as far as fleetd counts its robots and they report it. */
export const meansOnly = (r: Robot, stop: LatchedStop, fleet: readonly Robot[]): boolean =>
  !stop.all && stop.count <= 1 && (stop.robots?.[0] ?? heldBy(stop.id, fleet)[0] ?? r.id) === r.id;

/** Whether the page of a robot offers the release of a stop: that of a connected robot has those that it reports. */
export function offersRelease(r: Robot, stop: LatchedStop, fleet: readonly Robot[], now: number): boolean {
  if (stop.count !== 1 || !meansOnly(r, stop, fleet)) return false;
  if (r.presence.status !== 'online' && r.presence.status !== 'degraded') return false;
  return heldBy(stop.id, [r]).length > 0 || now - Date.parse(stop.since) < reported;
}

/** Whether a robot reports that it stands with this stop. In HALT it still brakes. */
export function stands(r: Robot | undefined, latch: string): boolean {
  return ['DISABLED', 'E_STOP'].includes(r?.safety ?? '') && heldBy(latch, [r!]).length > 0;
}

/** Who stopped it: the person, and the client if that is another name; empty if neither is known. */
export function stoppedBy({ by, client }: { by?: string; client?: string }): string {
  return by && client && by !== client ? `${by} (${client})` : by || client || '';
}
