import { quoted } from '../../api/commandline';
import { lineOf } from '../../api/lines';
import type { ScheduleBody, SiteBody } from './types';

const fileOf = (id: string, content: object) => `echo ${quoted(JSON.stringify(content))} > ${id}.json`;

/** The lines of the command line that save a schedule. */
export const putLines = (id: string, body: ScheduleBody): string[] => [
  fileOf(id, { schedule: id, ...body }),
  lineOf('put-schedule', { path: { id }, body }),
];

/** The lines of the command line that save the calendar of a site. */
export const siteLines = (id: string, body: SiteBody): string[] => [
  fileOf(id, { site: id, ...body }),
  lineOf('put-site', { path: { id }, body }),
];
