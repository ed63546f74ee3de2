import { useThrottledValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';

import { api, data, type Schemas } from '../../api/client';
import { problemOf } from '../../api/problem';
import { isOpen } from './states';
import type { Detail, NewRollout, Plan, RobotState, Summary } from './types';

/** ms until an open rollout, and a list with one, is asked for again. */
const again = 2000;
/** ms until others are asked for again: a person may retry one that has ended or roll it back, or make one. */
const later = 15_000;

export function useRollouts(query: { state?: string; robot?: string }, every = again) {
  return useQuery({
    queryKey: ['rollouts', 'list', query],
    queryFn: ({ signal }) =>
      data(api.GET('/api/v1/rollouts', { params: { query: { ...query, limit: 100 } as never }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: (q) =>
      q.state.data?.rollouts.some((r) => isOpen(r.state)) === false ? Math.max(every, later) : every,
  });
}

/** The newest answer about each rollout and its ETag. */
const newest = new Map<string, { tag: string; detail: Detail }>();

/** One rollout. fleetd answers with nothing while it is the same, so that an open page costs little. */
export function useRollout(id: string) {
  return useQuery({
    queryKey: ['rollouts', 'one', id],
    queryFn: async ({ signal }) => {
      const before = newest.get(id);
      const headers = before ? { 'If-None-Match': before.tag } : {};
      const answer = await api.GET('/api/v1/rollouts/{id}', { params: { path: { id } }, headers, signal });
      const tag = answer.response.headers.get('ETag');
      if (!answer.data) return before!.detail;
      if (tag) newest.set(id, { tag, detail: answer.data });
      return answer.data;
    },
    refetchInterval: (q) => {
      const unknown = !!q.state.error && problemOf(q.state.error).status === 404;
      return unknown || (q.state.data && !isOpen(q.state.data.state)) ? later : again;
    },
  });
}

/** Robots of one rollout that are read to show what each waits for. */
const mostRobots = 1000;

/** The robots of open rollouts with how far each is, to be asked for with useQueries. */
export const robotsOf = (id: string, every: number) => ({
  queryKey: ['rollouts', 'queue', id],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    data(
      api.GET('/api/v1/rollouts/{id}/robots', {
        params: { path: { id }, query: { limit: mostRobots } as never },
        signal,
      }),
    ),
  refetchInterval: every,
});

/** What a rollout would do. */
export const plan = (body: Schemas['RolloutRequest']): Promise<Plan> =>
  data(api.POST('/api/v1/rollouts/plan', { body }));

export const create = (body: NewRollout): Promise<Summary> => data(api.POST('/api/v1/rollouts', { body }));

/** ms between two requests for the robots of a rollout that goes on. */
const rarely = 4000;

/** Robots on one page of the table. */
export const robotsOnPage = 25;

/** Robots of a rollout, asked for again only after the rollout has changed. */
export function useRobotsOf(d: Detail, query: { state?: RobotState; wave?: string; after?: string }) {
  const asked = { ...query, limit: robotsOnPage };
  const version = useThrottledValue(d.version, rarely);
  return useQuery({
    queryKey: ['rollouts', 'robots', d.id, asked, version],
    queryFn: ({ signal }) => {
      const params = { path: { id: d.id }, query: asked as never };
      return data(api.GET('/api/v1/rollouts/{id}/robots', { params, signal }));
    },
    placeholderData: (before, of) => (of?.queryKey[2] === d.id ? keepPreviousData(before) : undefined),
  });
}
