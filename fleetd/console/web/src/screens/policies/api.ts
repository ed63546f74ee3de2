import { useQuery } from '@tanstack/react-query';

import { api, data, type Schemas } from '../../api/client';

export type Policy = Schemas['Policy'];
export type PolicyRequest = Schemas['PolicyRequest'];
export type PolicyResult = Schemas['PolicyResult'];
export type Reason = Schemas['KindWhy'];

/** ms until policies, and why a robot has what it has, are asked for again. */
const again = 5000;

export function usePolicies() {
  return useQuery({
    queryKey: ['policies'],
    queryFn: () => data(api.GET('/api/v1/policies')).then((all) => all.policies),
    refetchInterval: again,
  });
}

export const putPolicy = (id: string, body: PolicyRequest): Promise<PolicyResult> =>
  data(api.PUT('/api/v1/policies/{id}', { params: { path: { id } }, body }));

interface Deletion {
  dry_run?: boolean;
  expected_count?: number;
  supersede?: number;
  now?: boolean;
  why?: string;
}

export const deletePolicy = (id: string, query: Deletion): Promise<PolicyResult> =>
  data(api.DELETE('/api/v1/policies/{id}', { params: { path: { id }, query } }));

export function useReasons(robot: string) {
  return useQuery({
    queryKey: ['policies', 'why', robot],
    queryFn: () => data(api.GET('/api/v1/robots/{id}/why', { params: { path: { id: robot } } })).then((r) => r.kinds),
    refetchInterval: again,
  });
}
