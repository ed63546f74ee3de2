import { useQuery } from '@tanstack/react-query';

import { api, data } from '../../api/client';
import type { Selector } from '../robots/filter';
import type { Content, Spec } from '../rollouts/api';
import type { Kind } from '../rollouts/contentText';

export interface Policy {
  id: string;
  version: number;
  place: number;
  selector: Selector;
  content: Content;
  text: string;
  kind: Kind;
  enabled: boolean;
  owner?: string;
  why?: string;
  changed_at: string;
  changed_by?: string;
  selected: number;
  decides: number;
  lost: number;
  pinned: number;
}

export interface PolicyRequest {
  place: number;
  selector: Selector;
  content: Content;
  enabled: boolean;
  why?: string;
  dry_run?: boolean;
  expected_count?: number;
  spec?: Spec;
  now?: boolean;
}

export interface PolicyResult {
  total: number;
  decides: number;
  changes: { count: number; robots: string[] };
  pinned: { count: number; robots: string[] };
  overlaps: { policy: string; place: number; robots: number; first: boolean; same_place?: boolean }[];
  warnings: { detail: string; hint?: string }[];
  rollout?: string;
}

export interface Reason {
  kind: Kind;
  has: string;
  decided_by: 'policy' | 'pin' | 'person' | 'nobody';
  policy?: string;
  losers: { policy: string; why: string }[];
  pin?: { by?: string; at: string; why?: string };
}

type Loose = Record<'GET' | 'PUT' | 'DELETE', (path: string, init?: object) => Promise<{ data?: unknown }>>;
const loose = api as unknown as Loose;
const of = <T>(answer: Promise<{ data?: unknown }>) => data(answer as Promise<{ data?: T }>);

export function usePolicies() {
  return useQuery({
    queryKey: ['policies'],
    queryFn: () => of<{ policies: Policy[] }>(loose.GET('/api/v1/policies')).then((all) => all.policies),
    refetchInterval: 5000,
  });
}

export const putPolicy = (id: string, body: PolicyRequest) =>
  of<PolicyResult>(loose.PUT('/api/v1/policies/{id}', { params: { path: { id } }, body }));

export const deletePolicy = (id: string, query: { why?: string }) =>
  of<unknown>(loose.DELETE('/api/v1/policies/{id}', { params: { path: { id }, query } }));

export function useReasons(robot: string) {
  return useQuery({
    queryKey: ['policies', 'why', robot],
    queryFn: () =>
      of<{ kinds: Reason[] }>(loose.GET('/api/v1/robots/{id}/why', { params: { path: { id: robot } } })).then(
        (r) => r.kinds,
      ),
    refetchInterval: 5000,
  });
}
