import { line, quoted } from '../../api/commandline';
import type { ScheduleBody, SiteBody } from './types';

/** The lines of the command line that save a schedule. */
export const putLines = (id: string, body: ScheduleBody): string[] => [
  `echo ${quoted(JSON.stringify({ schedule: id, ...body }))} > ${id}.json`,
  line('schedule', 'put', `${id}.json`),
];

/** The lines of the command line that save the calendar of a site. */
export const siteLines = (id: string, body: SiteBody): string[] => [
  `echo ${quoted(JSON.stringify({ site: id, ...body }))} > ${id}.json`,
  line('site', 'set', `${id}.json`),
];
