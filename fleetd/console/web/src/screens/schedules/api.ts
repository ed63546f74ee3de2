import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';

import { api, data } from '../../api/client';
import type { Instant, Run, Schedule, ScheduleBody, Site, SiteBody, Times, WeekDay } from './types';

type Loose = Record<'GET' | 'PUT' | 'POST' | 'DELETE', (path: string, init?: object) => Promise<{ data?: unknown }>>;
const loose = api as unknown as Loose;
const of = <T>(answer: Promise<{ data?: unknown }>) => data(answer as Promise<{ data?: T }>);

export function useSchedules() {
  return useQuery({
    queryKey: ['schedules', 'list'],
    queryFn: () => of<{ schedules: Schedule[] }>(loose.GET('/api/v1/schedules')).then((all) => all.schedules),
    refetchInterval: 5000,
  });
}

export function useRuns(limit: number) {
  return useQuery({
    queryKey: ['schedules', 'runs', limit],
    queryFn: () =>
      of<{ runs: Run[] }>(loose.GET('/api/v1/schedules/runs', { params: { query: { limit } } })).then(
        (all) => all.runs,
      ),
    refetchInterval: 10_000,
  });
}

export const nextOf = (body: Times): Promise<Instant[]> =>
  of<{ next: Instant[] }>(loose.POST('/api/v1/schedules/next', { body })).then((r) => r.next);

export const putSchedule = (id: string, body: ScheduleBody) =>
  of<Schedule>(loose.PUT('/api/v1/schedules/{id}', { params: { path: { id } }, body }));

export const deleteSchedule = (id: string, query: { why?: string }) =>
  of<unknown>(loose.DELETE('/api/v1/schedules/{id}', { params: { path: { id }, query } }));

export function useSitesKnown() {
  return useQuery({
    queryKey: ['schedules', 'sites'],
    queryFn: () => of<{ sites: Site[] }>(loose.GET('/api/v1/sites')).then((all) => all.sites),
  });
}

export const putSite = (id: string, body: SiteBody & { why?: string }) =>
  of<Site>(loose.PUT('/api/v1/sites/{id}', { params: { path: { id } }, body }));

export function useWeek(site: string, from: string) {
  return useQuery({
    queryKey: ['schedules', 'week', site, from],
    queryFn: () =>
      of<{ zone: string; days: WeekDay[] }>(
        loose.GET('/api/v1/sites/{id}/week', { params: { path: { id: site }, query: { from } } }),
      ),
    enabled: !!site,
    placeholderData: keepPreviousData,
    retry: false,
  });
}

/** Schedules with their next instants. */
export function useComing(ids: readonly string[]): Schedule[] {
  return useQueries({
    queries: ids.map((id) => ({
      queryKey: ['schedules', 'one', id],
      queryFn: () => of<Schedule>(loose.GET('/api/v1/schedules/{id}', { params: { path: { id } } })),
    })),
    combine: (all) => all.flatMap((q) => (q.data ? [q.data] : [])),
  });
}
