import { api, data, type Robot, type Schemas } from '../../api/client';
import type { Selector } from '../robots/filter';
import { bodiesOf, type Document } from './bodies';
import { documentText, settingText } from './documentText';
import { activitiesText, type Line, type Outcome, type Revert, storyText, valueOf, type What } from './model';

type Options = { dry: true } | { dry: false; expected: number; why: string };

/** Sends the request; dry changes nothing. expected is the number of robots that a person agreed to. */
export async function assign(w: What, selector: Selector, o: Options, fleet: readonly Robot[]): Promise<Outcome> {
  const body = o.dry
    ? { selector, dry_run: true }
    : { selector, expected_count: o.expected, why: o.why.trim() || undefined };
  const has = new Map(fleet.map((r) => [r.id, r]));
  const what = bodiesOf(w);
  if (what.story) {
    const got = await data(api.POST('/api/v1/assignments', { body: { ...body, ...what.story } }));
    const then = storyText({ id: got.story, rev: got.rev });
    const now = (id: string) => storyText(has.get(id)?.desired.story);
    return {
      total: got.total,
      lines: linesOf(got, then, now, got.misfits),
      back: [{ what: { kind: 'back' }, robots: got.updated }],
    };
  }
  if (w.kind === 'back' && w.of) {
    const of = w.of;
    const got = await data(api.POST('/api/v1/desired', { body: { ...body, ...what.desired } }));
    const texts = (all: Schemas['ValueOfRobots'][]) =>
      new Map(all.flatMap((g) => g.robots.map((r) => [r, documentText(of, g.value)] as const)));
    const [was, to] = [texts(got.was), texts(got.to ?? [])];
    return {
      total: got.total,
      lines: [
        ...got.updated.map((robot) => ({ robot, changes: true, now: was.get(robot), then: to.get(robot) ?? '–' })),
        ...(got.skipped ?? []).map((s) => ({ robot: s.robot, changes: false, then: '', note: s.detail })),
      ],
      back: [{ what: w, robots: got.updated }],
    };
  }
  if (w.kind === 'back') {
    const got = await data(api.POST('/api/v1/assignments/revert', { body }));
    const now = (id: string) => storyText(has.get(id)?.desired.story);
    return {
      total: got.total,
      lines: [
        ...got.to.flatMap((to) =>
          to.robots.map((r) => ({
            robot: r,
            changes: true,
            now: now(r),
            then: storyText({ id: to.story, rev: to.rev }),
          })),
        ),
        ...got.skipped.map((s) => ({
          robot: s.robot,
          changes: false,
          now: now(s.robot),
          then: now(s.robot),
          note: s.detail,
        })),
      ],
      back: [{ what: w, robots: got.to.flatMap((to) => to.robots) }],
    };
  }
  if (what.activities) {
    const got = await data(api.POST('/api/v1/activities/assignments', { body: { ...body, ...what.activities } }));
    const assigned = (id: string) => has.get(id)?.activities?.assigned ?? [];
    const back = new Map<string, Revert>();
    for (const r of got.updated) {
      const ids = assigned(r).map((a) => a.id);
      const one = back.get(ids.join()) ?? {
        what: { kind: 'activities', ids, none: ids.length === 0 },
        robots: [],
      };
      back.set(ids.join(), { ...one, robots: [...one.robots, r] });
    }
    const now = (id: string) => activitiesText(assigned(id));
    return {
      total: got.total,
      lines: linesOf(got, activitiesText(got.activities), now, got.misfits),
      back: [...back.values()],
    };
  }
  if (w.kind === 'story' || w.kind === 'activities') throw new Error(w.kind); // they are done above
  const got = await data(api.POST('/api/v1/desired', { body: { ...body, ...what.desired } }));
  const was = new Map(got.was.flatMap((g) => g.robots.map((r) => [r, wasText(w, g.value)] as const)));
  const then = textOf(w);
  const now = (id: string) => was.get(id) ?? then;
  // A mode for now is sent again to robots that have it: fleetd would give them back the mode before that. The texts of
  // places are their names only.
  const robots = got.updated.filter((id) => w.kind === 'places' || now(id) !== then);
  return {
    total: got.total,
    lines: linesOf(got, then, now, []),
    back: [{ what: { kind: 'back', of: w.kind === 'settings' ? 'config' : w.kind }, robots }],
  };
}

interface Changed {
  updated: string[];
  unchanged: string[];
}

function linesOf(got: Changed, then: string, now: (id: string) => string, misfits: Schemas['Misfit'][]): Line[] {
  const note = notes(misfits, 'error');
  const hint = notes(misfits, 'warning');
  return [
    ...got.updated.map((robot) => ({
      robot,
      changes: true,
      now: now(robot),
      then,
      note: note.get(robot),
      hint: hint.get(robot),
    })),
    ...got.unchanged.map((robot) => ({ robot, changes: false, now: now(robot), then: now(robot) })),
  ];
}

/** What the body of each robot lacks, or what people will notice. */
function notes(misfits: Schemas['Misfit'][], severity: 'error' | 'warning'): Map<string, string> {
  const out = new Map<string, string>();
  for (const m of misfits) {
    const text = m.problems
      .filter((p) => p.severity === severity)
      .map((p) => p.detail)
      .join('; ');
    for (const r of m.robots) out.set(r, [out.get(r), text].filter(Boolean).join('; '));
  }
  return out;
}

/** What a request gives, in words. */
function textOf(w: Document): string {
  switch (w.kind) {
    case 'mode':
      return w.mode;
    case 'settings':
      return settingText(w.key.trim(), w.none ? null : valueOf(w.value));
    case 'places':
      return w.none ? '–' : w.id;
  }
}

/** What a robot had, from the answer of fleetd: undefined if it had no document. */
function wasText(w: Document, value: unknown): string {
  if (w.kind !== 'settings') return documentText(w.kind, value);
  return documentText('config', value ?? { [w.key.trim()]: null });
}
