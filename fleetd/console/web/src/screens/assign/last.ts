import type { Schemas } from '../../api/client';
import { documentText } from './documentText';
import { activitiesText, type Outcome, type Revert, storyText, type What } from './model';

export type Last = Schemas['LastAssignment'];
type Rollout = Pick<Schemas['RolloutSummary'], 'id' | 'kind' | 'wave_count' | 'total' | 'created_at' | 'content'>;
type Kind = Last['kind'];
type Pin = { id?: string; rev?: number };

/** What robots were given, or had before, in words. */
export function givenText(kind: Kind, value: unknown, changed?: string): string {
  switch (kind) {
    case 'story':
      return storyText(value as Pin | undefined);
    case 'activities':
      return activitiesText(value as { id: string; rev: number }[] | undefined);
    default:
      return documentText(kind, value, changed);
  }
}

/** The request with which fleetd leads each robot back to its own; activities have none. */
function backOf(kind: Kind): What {
  return kind === 'story' || kind === 'activities' ? { kind: 'back' } : { kind: 'back', of: kind };
}

/** ms that may lie between an assignment and its rollout. */
const near = 2000;

/** The rollout of an assignment; undefined if several may be it. */
export function rolloutOf(a: Last, all: readonly Rollout[]): Rollout | undefined {
  const found = all.filter(
    (r) =>
      r.kind === a.kind &&
      r.wave_count === 1 &&
      r.total >= a.total &&
      Math.abs(Date.parse(r.created_at) - Date.parse(a.at)) < near &&
      a.groups.some((g) => a.kind !== 'story' || said(g.now as Pin) === r.content),
  );
  return found.length === 1 ? found[0] : undefined;
}

const said = (p: Pin): string => (p.id ? `story ${p.id} revision ${p.rev}` : 'no default story');

/** What an assignment of any of these kinds was, for its progress and its way back. */
export function whatOf(a: Last): What {
  if (a.kind === 'activities') return { kind: 'activities', ids: [] };
  return a.kind === 'story' ? { kind: 'story', story: '', rev: 0, apply: 'next_act' } : backOf(a.kind);
}

/** An assignment as if it was made now; only names the robots that it leads back. */
export function outcomeOf(a: Last, only?: string): Outcome {
  const groups = a.groups
    .map((g) => ({ ...g, robots: only ? g.robots.filter((r) => r === only) : g.robots }))
    .filter((g) => g.robots.length > 0);
  const lines = groups.flatMap((g) =>
    g.robots.map((robot) => ({
      robot,
      changes: true,
      now: givenText(a.kind, g.before),
      then: givenText(a.kind, g.now),
    })),
  );
  const leads = groups.filter((g) => !g.no_way_back);
  if (a.kind !== 'activities') {
    const robots = leads.flatMap((g) => g.robots);
    return { total: lines.length, lines, back: [{ what: backOf(a.kind), robots }] };
  }
  const back = leads.map((g): Revert => {
    const ids = ((g.before ?? []) as Pin[]).map((p) => p.id!);
    return { what: { kind: 'activities', ids, none: ids.length === 0 }, robots: g.robots };
  });
  return { total: lines.length, lines, back };
}
