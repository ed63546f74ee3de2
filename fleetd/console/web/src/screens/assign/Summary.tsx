import { Alert, List, Stack } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';

import type { Problem } from '../../api/problem';
import { useRobots } from '../../live/robots';
import { Each } from './Each';
import { changing, grouped, type Line, type Outcome, reportOf, stepOf, stepText, type What } from './model';
import { useAssignTexts } from './text';

/** Up to this many robots of a reason are named. */
export const named = 5;
/** Up to this many robots are shown one by one at once. */
const few = 10;
export const names = (robots: readonly string[], n = named): string =>
  robots.slice(0, n).join(', ') + (robots.length > n ? `, … (${robots.length})` : '');

export function Refusal({ p, title }: { p: Problem; title: string }) {
  return (
    <Alert color="red" title={title} role="alert">
      <span dir="auto">
        {[p.message, ...p.findings.map((f) => f.detail), p.hint]
          .filter((text, i, all) => text && all.indexOf(text) === i)
          .join('; ')}
      </span>
    </Alert>
  );
}

/** What a request would do: counted, by reason, and for each robot. */
export function Summary({ o, what }: { o: Outcome; what: What }) {
  const t = useAssignTexts();
  const fleet = useRobots();
  const there = new Set(fleet.filter((r) => ['online', 'degraded'].includes(r.presence.status)).map((r) => r.id));
  const rows = new Map(fleet.map((r) => [r.id, r]));
  /** It is asked to have it already: how far it is. */
  const same = (id: string) => {
    const r = rows.get(id);
    if (!r || !['story', 'back', 'activities'].includes(what.kind) || (what.kind === 'back' && what.of))
      return t.sameAlready;
    const step = stepOf(reportOf(what.kind, r), false, r);
    return step === 'has' ? t.sameAlready : stepText(t, step);
  };
  /** It keeps what it has only until it begins with what it was asked to have before. */
  const underWay = (l: Line) => !l.note && same(l.robot) !== t.sameAlready && same(l.robot);
  const change = changing(o);
  const stay = o.lines.filter((l) => !l.changes);
  const away = change.filter((l) => !there.has(l.robot)).map((l) => l.robot);
  return (
    <Stack gap="xs">
      <List size="sm" data-testid="dry-run">
        <List.Item>
          <b>{t.updates(change.length, o.total)}</b>
        </List.Item>
        {grouped(stay.map((l) => [l.note || same(l.robot), l.robot])).map(([why, robots]) => (
          <List.Item key={why}>
            {t.unchanged(robots.length)}: <span dir="auto">{why}</span> ({names(robots)})
          </List.Item>
        ))}
        {grouped(change.map((l) => [l.note, l.robot])).map(([why, robots]) => (
          <List.Item
            key={why}
            icon={<IconAlertTriangle size={16} color="var(--mantine-color-yellow-7)" aria-label={t.mayRefuse} />}
          >
            {t.misfit(robots.length)}: <span dir="auto">{why}</span> ({names(robots)})
          </List.Item>
        ))}
        {away.length > 0 && (
          <List.Item>
            {t.away(away.length)} ({names(away)})
          </List.Item>
        )}
      </List>
      <Each
        open={o.lines.length <= few}
        head={[t.now, t.then, t.note]}
        rows={o.lines.map((l) => [
          l.robot,
          l.now ?? '',
          l.changes ? l.then : underWay(l) || t.stays,
          [l.note, l.changes && !there.has(l.robot) && t.whenBack].filter(Boolean).join('; '),
        ])}
      />
    </Stack>
  );
}
