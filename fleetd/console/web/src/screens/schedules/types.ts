import type { Selector } from '../robots/filter';
import type { Content } from '../rollouts/types';

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
  on?: 'opening' | 'closing';
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

export interface Run {
  schedule: string;
  instant: string;
  at: string;
  outcome: 'done' | 'missed' | 'failed';
  why?: string;
  robots: number;
  batch?: string;
  rollout?: string;
}

export interface Schedule extends ScheduleBody {
  id: string;
  of_site?: string;
  owner?: string;
  next_at?: string;
  next?: Instant[];
  last?: Run;
  changed_by?: string;
  changed_at?: string;
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

export interface Site extends SiteBody {
  id: string;
  local_time: string;
}

/** A span that begins on a day; its times have the offset of the site. */
export interface DaySpan {
  text: string;
  from: string;
  to: string;
}

export interface WeekDay {
  date: string;
  day: Day;
  open: DaySpan[];
  windows: DaySpan[];
  exception?: boolean;
  name?: string;
  clock_change?: string;
}
