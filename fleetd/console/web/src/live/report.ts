/** Who numbered a desired document, and how. */
interface Numbered {
  fleet_id?: string;
  rev: number;
}
/** What a robot reports about the newest document that it obeys. */
interface Report {
  fleet_id?: string;
  desired_rev: number;
  reason?: string;
}

/**
 * What a robot's report is about: a document, another revision of it, or documents of another fleet, which that fleet
 * numbers by itself, so that the same number means nothing.
 */
export function aboutOf(desired?: Numbered, reported?: Report): 'nothing' | 'this' | 'another' | 'otherFleet' {
  if (!reported) return 'nothing';
  const foreign = reported.fleet_id ? reported.fleet_id !== desired?.fleet_id : reported.reason === 'wrong_fleet';
  if (desired && foreign) return 'otherFleet';
  return reported.desired_rev === desired?.rev ? 'this' : 'another';
}

/**
 * Whether a robot obeys another fleet, from what fleetd says of its story or activities: the revision and the phase are
 * then those of that fleet.
 */
export function obeysAnother(d: { converged: boolean; reason?: string }): boolean {
  return !d.converged && d.reason === 'wrong_fleet';
}
