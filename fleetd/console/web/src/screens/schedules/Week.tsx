import { ScrollArea, Text } from '@mantine/core';
import { Link } from 'react-router';

import { locale } from '../../text/time';
import type { WeekDay } from './types';
import { useSchedulesTexts } from './text';
import { type Block, blocksOf, type Mark } from './week';
import classes from './week.module.css';

const share = (minutes: number) => `${(100 * minutes) / 1440}%`;
const placeOf = (b: Block) => ({ top: share(b.from), height: share(Math.max(b.to - b.from, 20)) });

/** A date such as Mon, 23 Nov. */
export const dayText = (date: string): string =>
  new Date(`${date}T12:00:00Z`).toLocaleDateString(locale(), {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC',
  });

/** A week of a site in its zone: when it is open, when its robots may be changed, and what happens by itself. */
export function Week({ days, marks }: { days: readonly WeekDay[]; marks: readonly Mark[][] }) {
  const t = useSchedulesTexts();
  const open = blocksOf(days, 'open');
  const windows = blocksOf(days, 'windows');
  return (
    <ScrollArea viewportProps={{ tabIndex: 0, role: 'group', 'aria-label': t.tabs.calendar }}>
      <div className={classes.week} data-testid="week">
        <div className={classes.head} style={{ borderInlineStart: 0 }} />
        {days.map((d) => (
          <div key={d.date} className={classes.head}>
            <b>{dayText(d.date)}</b>
            <Text size="xs" dir="auto" className="any-text">
              {[d.name || (d.exception && t.exception), d.open.length === 0 && t.closed, d.clock_change]
                .filter(Boolean)
                .join(', ')}
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
        {days.map((d, n) => (
          <ul key={d.date} className={classes.day} aria-label={dayText(d.date)}>
            {open[n]!.map((b) => (
              <li key={`o${b.from}`} className={classes.open} style={placeOf(b)} title={`${b.text} ${t.open}`}>
                {b.text} {t.open}
              </li>
            ))}
            {windows[n]!.map((b) => (
              <li key={`w${b.from}`} className={classes.window} style={placeOf(b)} title={`${b.text} ${t.window}`}>
                {b.text} {t.window}
              </li>
            ))}
            {(marks[n] ?? []).map((m) => (
              <li
                key={m.at + m.schedule}
                className={classes.run}
                style={{ top: share(Math.min(m.minute, 1380)) }}
                title={`${m.at} ${m.schedule}${m.outcome ? `: ${t.outcomes[m.outcome]}` : ''}`}
              >
                <Link to={`/schedules/${encodeURIComponent(m.schedule)}`}>
                  {m.at} {m.schedule}
                  {m.outcome && ` (${t.outcomes[m.outcome]})`}
                </Link>
              </li>
            ))}
          </ul>
        ))}
      </div>
    </ScrollArea>
  );
}
