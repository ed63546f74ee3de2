import { useQuery } from '@tanstack/react-query';

import { api, data, type Schemas } from './client';

/** Who uses the console, and what they may do. */
export type Me = Schemas['Me'];
export type Right = Me['rights'][number];

/** The person who uses this console; undefined while fleetd was not asked yet. */
export function useMe(): Me | undefined {
  return useQuery({ queryKey: ['me'], queryFn: () => data(api.GET('/api/v1/me')), staleTime: 60_000 }).data;
}

/** Whether the person has one of these rights; false while that is not known. */
export function useMay(...rights: Right[]): boolean {
  const me = useMe();
  return !!me && rights.some((r) => me.rights.includes(r));
}

/**
 * Whether the person may stop robots; true while that is not known: fleetd decides, and no stop waits for the answer
 * about rights.
 */
export function useMayStop(): boolean {
  return useMe()?.rights.includes('stop') ?? true;
}
