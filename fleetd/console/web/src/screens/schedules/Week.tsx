import { ScrollArea, Text } from '@mantine/core';
import { Link } from 'react-router';

import { locale } from '../../text/time';
import type { Schedule, WeekDay } from './types';
import { useSchedulesTexts } from './text';
import { minuteOf } from './times';
import { useActionText } from './words';
import classes from './week.module.css';

const share = (minutes: number) => `${(100 * minutes) / 1440}%`;
/** Where a span is in the column of its day; a short one is high enough to be seen. */
const placeOf = (s: WeekDay['open'][number]) => {
  const from = minuteOf(s.from);
  return { top: share(from), height: share(Math.max(minuteOf(s.to) - from, 20)) };
};

/** A date such as Mon, 23 Nov. */
export const dayText = (date: string): string =>
  new Date(`${date}T12:00:00Z`).toLocaleDateString(locale(), {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC',
  });

/** A week of a site in its zone: when it is open, when its robots may be changed, and what happens by itself. */
export function Week({ days, schedules }: { days: readonly WeekDay[]; schedules: readonly Schedule[] }) {
  const t = useSchedulesTexts();
  const action = useActionText();
  /** What happens, in the console's language if the schedule is known here. */
  const said = (r: WeekDay['runs'][number]) => {
    const schedule = schedules.find((s) => s.id === r.schedule);
    return schedule ? action(schedule.action) : r.text;
  };
  return (
    <ScrollArea viewportProps={{ tabIndex: 0, role: 'group', 'aria-label': t.tabs.calendar }}>
      <div className={classes.week} data-testid="week">
        <div className={classes.head} style={{ borderInlineStart: 0 }} />
        {days.map((d) => (
          <div key={d.date} className={classes.head}>
            <b>{dayText(d.date)}</b>
            <Text size="xs" dir="auto" className="any-text">
              {[d.exception, d.open.length === 0 && t.closed, d.clock_change].filter(Boolean).join(', ')}
            </Text>
          </div>
        ))}
        <div className={classes.hours} aria-hidden>
          {[0, 6, 12, 18, 24].map((h) => (
            <span key={h} className={classes.hour} style={{ top: share(h * 60) }}>
              {`${h}`.padStart(2, '0')}
            </span>
          ))}
        </div>
        {days.map((d) => (
          <ul key={d.date} className={classes.day} aria-label={dayText(d.date)}>
            {d.open.map((s) => (
              <li key={`o${s.from}`} className={classes.open} style={placeOf(s)} title={`${s.from}–${s.to} ${t.open}`}>
                {s.from}–{s.to} {t.open}
              </li>
            ))}
            {d.windows.map((s) => (
              <li
                key={`w${s.from}`}
                className={classes.window}
                style={placeOf(s)}
                title={`${s.from}–${s.to} ${t.window}`}
              >
                {s.from}–{s.to} {t.window}
              </li>
            ))}
            {d.runs.map((r) => (
              <li
                key={`r${r.at}${r.schedule}`}
                className={classes.run}
                style={{ top: share(Math.min(minuteOf(r.at), 1380)) }}
                title={`${r.at} ${r.schedule}: ${said(r)}`}
              >
                <Link to={`/schedules/${encodeURIComponent(r.schedule)}`}>
                  {r.at} {said(r)}
                </Link>
              </li>
            ))}
          </ul>
        ))}
      </div>
    </ScrollArea>
  );
}
