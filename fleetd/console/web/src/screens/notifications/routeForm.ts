import type { Route, RouteBody } from './api';

/** The fields of the form of a route, as people fill them in. */
export interface RouteForm {
  receiver: string;
  alerts: string[];
  events: string[];
  level: string;
  sites: string[];
  spans: string;
  zone: string;
  through: string;
  groupS: number;
  repeatMin: number;
  resolved: boolean;
  escalateTo: string;
  escalateMin: number;
  enabled: boolean;
}

/** The form of a route, or of a new one. */
export function formOf(r: Route | undefined, receiver: string): RouteForm {
  return {
    receiver: r?.receiver ?? receiver,
    alerts: r?.alerts ?? [],
    events: r?.events ?? [],
    level: r?.level ?? 'info',
    sites: r?.sites ?? [],
    spans: (r?.quiet?.windows ?? [])
      .map((w) => [(w.days ?? []).join(','), w.span].filter(Boolean).join(' '))
      .join('\n'),
    zone: r?.quiet?.zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    through: r?.quiet?.through ?? '',
    groupS: r?.group_s ?? 60,
    repeatMin: (r?.repeat_s ?? 14400) / 60,
    resolved: r?.resolved ?? true,
    escalateTo: r?.escalate?.receiver ?? '',
    escalateMin: (r?.escalate?.after_s ?? 900) / 60,
    enabled: r?.enabled ?? true,
  };
}

/** A line of quiet hours: "22:00-07:00", or "sat,sun 00:00-24:00". */
function windowOf(text: string) {
  const words = text.trim().split(/\s+/);
  const span = words.pop()!;
  const days = words.join(',').split(',').filter(Boolean);
  return { span, ...(days.length > 0 ? { days } : {}) };
}

/** The request that saves what a form has. */
export function bodyOf(f: RouteForm): RouteBody {
  const lines = f.spans.split('\n').filter((l) => l.trim());
  return {
    receiver: f.receiver,
    ...(f.alerts.length > 0 ? { alerts: f.alerts } : {}),
    ...(f.events.length > 0 ? { events: f.events } : {}),
    ...(f.level !== 'info' ? { level: f.level } : {}),
    ...(f.sites.length > 0 ? { sites: f.sites } : {}),
    ...(lines.length > 0
      ? { quiet: { zone: f.zone.trim(), windows: lines.map(windowOf), ...(f.through ? { through: f.through } : {}) } }
      : {}),
    group_s: Math.round(f.groupS),
    repeat_s: Math.round(f.repeatMin * 60),
    resolved: f.resolved,
    ...(f.escalateTo ? { escalate: { receiver: f.escalateTo, after_s: Math.round(f.escalateMin * 60) } } : {}),
    ...(f.enabled ? {} : { enabled: false }),
  } as RouteBody;
}
