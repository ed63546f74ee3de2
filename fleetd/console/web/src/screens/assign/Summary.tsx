import { Alert, List, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';

import type { Problem } from '../../api/problem';
import { useRobots } from '../../live/robots';
import { Each } from './Each';
import { changing, grouped, type Line, type Outcome, reportOf, stepOf, stepText, type What } from './model';
import { useAssignTexts } from './text';
import { useNamed } from './useNamed';

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

/** What a robot has or gets, and below it in small letters what is to be said about that. */
const withNote = (text: string | undefined, notes: (string | false | undefined)[]) => (
  <>
    {text}
    <Text size="xs" c="dimmed">
      {notes.filter(Boolean).join('; ')}
    </Text>
  </>
);

/** What a request would do: counted, by reason, and for each robot. */
export function Summary({ o, what }: { o: Outcome; what: What }) {
  const t = useAssignTexts();
  const fleet = useRobots();
  const named = useNamed(what);
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
  /** How far it is with what it was assigned before. */
  const underWay = (l: Line) => !l.changes && !l.note && same(l.robot) !== t.sameAlready && same(l.robot);
  /** The story stays, and the moment at which it begins changes. */
  const onlyWhen = (l: Line) => l.changes && l.now === l.then;
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
          <List.Item key={why}>
            <IconAlertTriangle size={16} className="in-text" aria-label={t.mayRefuse} /> {t.misfit(robots.length)}:{' '}
            <span dir="auto">{why}</span> ({names(robots)})
          </List.Item>
        ))}
        {grouped(change.map((l) => [l.hint, l.robot])).map(([hint, robots]) => (
          <List.Item key={hint}>
            <span dir="auto">{hint}</span> ({names(robots)})
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
        head={[t.now, t.then]}
        rows={o.lines.map((l) => [
          l.robot,
          withNote(l.now && named(l.now), [underWay(l)]),
          withNote(l.changes ? named(l.then) : t.stays, [
            l.note,
            l.hint,
            onlyWhen(l) && t.onlyWhen,
            l.changes && !there.has(l.robot) && t.whenBack,
          ]),
        ])}
      />
    </Stack>
  );
}
