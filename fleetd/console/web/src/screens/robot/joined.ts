import type { Detail, Robot } from '../../api/client';

/**
 * The newest row of the stream, with what fleetd leaves out of it: the newest event, digests and revisions of a story that
 * the robot has, state_at unless the state is outdated, and presence.why while the robot is online.
 */
export function joined(row?: Robot, detail?: Detail): Robot | undefined {
  if (!row || !detail) return row ?? detail;
  const { desired, last_event, state_at } = detail;
  // A heartbeat alone sends no row, so that the documents may know of a newer one.
  const last_seen = [row.presence.last_seen, detail.presence.last_seen]
    .filter((at) => at !== undefined)
    .sort()
    .at(-1);
  const presence = { ...detail.presence, ...row.presence, last_seen };
  return { ...row, desired, last_event, state_at, presence };
}
