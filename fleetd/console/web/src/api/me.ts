import { useQuery } from '@tanstack/react-query';

/** Who uses the console, and what they may do. */
export interface Me {
  id: string;
  name: string;
  kind: string;
  roles: string[];
  rights: string[];
  sites: string[];
  /** fleetd was started with --dev: a person who is not signed in has every right. */
  dev: boolean;
}

/** The person who uses this console; undefined while fleetd was not asked yet. */
export function useMe(): Me | undefined {
  return useQuery({
    queryKey: ['me'],
    queryFn: async (): Promise<Me> => {
      const answer = await fetch('/api/v1/me');
      if (!answer.ok) throw new Error(`fleetd answered ${answer.status}`);
      return (await answer.json()) as Me;
    },
    staleTime: 60_000,
  }).data;
}

/** Whether the person has one of these rights; false while that is not known. */
export function useMay(...rights: string[]): boolean {
  const me = useMe();
  return !!me && rights.some((r) => me.rights.includes(r));
}
