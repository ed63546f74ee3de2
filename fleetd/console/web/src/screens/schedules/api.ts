import { keepPreviousData, useQuery } from '@tanstack/react-query';

import { api, data } from '../../api/client';
import type { Selector } from '../robots/filter';
import type { Content } from '../rollouts/api';

export interface Action {
  rollout?: string;
  assign?: Content;
  mode?: string;
  performance?: 'start' | 'stop' | 'pause' | 'continue';
  volume?: number;
}

export interface Times {
  cron?: string;
  at?: string;
  zone?: string;
  event?: 'opening' | 'closing';
  site?: string;
  offset_s?: number;
}

export interface ScheduleBody extends Times {
  missed?: 'skip' | 'run_once';
  within_s?: number;
  action: Action;
  selector?: Selector;
  enabled?: boolean;
  why?: string;
}

export interface Schedule extends ScheduleBody {
  id: string;
  text: string;
  site_of?: string;
  owner?: string;
  next_at?: string;
  last?: { at: string; outcome: 'done' | 'missed' | 'failed'; why?: string };
  changed_by?: string;
  changed_at: string;
}

export interface Run {
  schedule: string;
  instant: string;
  at: string;
  outcome: 'done' | 'missed' | 'failed';
  why?: string;
  what?: string;
}

export interface Instant {
  at: string;
  local: string;
  note?: string;
}

export interface SiteBody {
  zone: string;
  hours?: Partial<Record<Day, string[]>>;
  exceptions?: { date: string; until?: string; hours?: string[]; name?: string }[];
  windows?: { days?: Day[]; span: string }[];
  open?: Action;
  close?: Action;
}

export const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Day = (typeof days)[number];

export interface Site extends Partial<SiteBody> {
  id: string;
  robots: number;
}

export interface Span {
  from: string;
  to: string;
}

export interface WeekDay {
  date: string;
  exception?: string;
  open: Span[];
  windows: Span[];
  runs: { schedule: string; at: string; text: string }[];
}

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

export function useRuns(schedule?: string) {
  return useQuery({
    queryKey: ['schedules', 'runs', schedule],
    queryFn: () =>
      of<{ runs: Run[] }>(loose.GET('/api/v1/schedules/runs', { params: { query: { schedule, limit: 20 } } })).then(
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
