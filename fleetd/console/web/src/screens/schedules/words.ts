import { useModeName } from '../../text/modes';
import type { Content } from '../rollouts/types';
import { useContentText } from '../rollouts/contentText';
import { type Action, days, type Times } from './types';
import { weekOf } from './times';
import { useSchedulesTexts } from './text';

/** A content in a few words, as fleetd says it. */
export function contentText(c: Content): string {
  if (c.story)
    return c.story.id ? `story ${c.story.id}${c.story.rev ? ` revision ${c.story.rev}` : ''}` : 'no default story';
  if (c.activities)
    return c.activities.pins.length > 0
      ? `activities ${c.activities.pins.map((p) => (p.rev ? `${p.id}@${p.rev}` : p.id)).join(', ')}`
      : 'no activities';
  if (c.config)
    return `settings ${[...Object.keys(c.config.set ?? {}), ...(c.config.unset ?? []).map((k) => `${k} (default)`)].join(', ')}`;
  if (c.mode) return `mode ${c.mode.mode}`;
  return c.places?.id ? `places ${c.places.id}` : 'no places';
}

/** What happens at a time, in words. */
export function useActionText(): (a: Action) => string {
  const t = useSchedulesTexts();
  const said = useContentText();
  const modeName = useModeName();
  return (a) => {
    if (a.rollout) return `${t.actions.rollout}: ${a.rollout}`;
    if (a.assign) return said(contentText(a.assign));
    if (a.mode) return `${t.mode}: ${modeName(a.mode)}`;
    return a.performance ? t.performances[a.performance] : t.nothing;
  };
}

/** When something happens, in words. */
export function useTimesText(): (times: Times) => string {
  const t = useSchedulesTexts();
  return (times) => {
    if (times.event) {
      const minutes = Math.round((times.offset_s ?? 0) / 60);
      const off = minutes === 0 ? '' : ` ${minutes > 0 ? '+' : '−'}${Math.abs(minutes)} min`;
      return `${t.site} ${times.site} ${t.ons[times.event]}${off}`;
    }
    if (times.at) return `${times.at.replace('T', ' ')} ${times.zone ?? ''}`.trim();
    const week = weekOf(times.cron ?? '');
    if (!week) return `${times.cron} ${times.zone}`;
    const all = week.days.length === days.length ? '' : `${week.days.map((d) => t.dayNames[d]).join(' ')} `;
    return `${all}${week.time}, ${times.zone}`;
  };
}
