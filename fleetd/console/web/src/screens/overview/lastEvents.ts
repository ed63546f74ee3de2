/** The query of the newest events: those of a site, or of all robots with an empty one; notable ones need a look. */
export function lastEventsQuery(site: string, notable: boolean, limit: number) {
  const level: ('warn' | 'error' | 'safety')[] | undefined = notable ? ['warn', 'error', 'safety'] : undefined;
  return { limit, level, site: site || undefined };
}
