/** The fields of the filter, as they stand in the address. */
export const fields = ['who', 'what', 'target', 'via', 'outcome', 'since', 'until'] as const;

export type Filter = Partial<Record<(typeof fields)[number], string>>;

/** The filter as fleetd reads it: times of this browser become times with a zone. */
export function queryOf(set: Filter): Record<string, string> {
  const out: Record<string, string> = { ...set };
  for (const name of ['since', 'until']) {
    if (out[name]) out[name] = new Date(out[name]).toISOString();
  }
  return out;
}

/**
 * The query of the list. While somebody drives, their control is renewed every 10 s, which would bury what people
 * did: fleetd leaves the renewals out, so that each page is full of what is shown.
 */
export function listQuery(set: Filter, renewals: boolean): Record<string, string> {
  return renewals || set.what ? queryOf(set) : { ...queryOf(set), without: 'command control/renew' };
}
