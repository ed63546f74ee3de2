import type { Schemas } from '../../api/client';

export type Action = Schemas['ScheduleAction'];
export type Times = Schemas['ScheduleTimes'];
export type ScheduleBody = Schemas['ScheduleRequest'];
export type Schedule = Schemas['Schedule'];
export type Run = Schemas['ScheduleRun'];
export type Site = Schemas['Site'];
export type SiteBody = Schemas['SiteRequest'];
export type WeekDay = Schemas['CalendarDay'];

export const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Day = (typeof days)[number];
