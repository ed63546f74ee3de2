import { keepPreviousData, useQuery } from '@tanstack/react-query';

import { api, data } from '../../api/client';
import type { ScheduleBody, SiteBody, Times } from './types';

/** ms until schedules, and what ran, are asked for again. */
const again = 5000;

export function useSchedules() {
  return useQuery({
    queryKey: ['schedules', 'list'],
    queryFn: () => data(api.GET('/api/v1/schedules')).then((all) => all.schedules),
    refetchInterval: again,
  });
}

export function useRuns(limit: number) {
  return useQuery({
    queryKey: ['schedules', 'runs', limit],
    queryFn: () =>
      data(api.GET('/api/v1/schedules/runs', { params: { query: { limit } as never } })).then((all) => all.runs),
    refetchInterval: again,
  });
}

/** The next instants at which a schedule with these times would run. */
export const nextOf = (body: Times) => data(api.POST('/api/v1/schedules/next', { body }));

export const putSchedule = (id: string, body: ScheduleBody) =>
  data(api.PUT('/api/v1/schedules/{id}', { params: { path: { id } }, body }));

export const deleteSchedule = (id: string, query: { why?: string }) =>
  data(api.DELETE('/api/v1/schedules/{id}', { params: { path: { id }, query } }));

export const putSite = (id: string, body: SiteBody) =>
  data(api.PUT('/api/v1/sites/{id}', { params: { path: { id } }, body }));

/** A week of a site; none if nothing is known of it. */
export function useWeek(site: string, from: string) {
  return useQuery({
    queryKey: ['schedules', 'week', site, from],
    queryFn: () => data(api.GET('/api/v1/sites/{id}/week', { params: { path: { id: site }, query: { from } } })),
    enabled: !!site,
    // Another week of the same site only.
    placeholderData: (before, of) => (of?.queryKey[2] === site ? keepPreviousData(before) : undefined),
    retry: false,
  });
}
