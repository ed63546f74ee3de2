import { api, data, type Schemas } from '../../api/client';
import type { Selector } from '../robots/filter';
import { type Outcome, valueOf, type What } from './model';

/** Sends the request; dry changes nothing. expected is the number of robots that a person agreed to. */
export async function assign(
  w: What,
  selector: Selector,
  o: { dry: true } | { dry: false; expected: number; why: string },
): Promise<Outcome> {
  const body = o.dry
    ? { selector, dry_run: true }
    : { selector, expected_count: o.expected, why: o.why.trim() || undefined };
  if (w.kind === 'story') {
    const got = await data(
      api.POST('/api/v1/assignments', {
        body: { ...body, story: w.story, rev: w.rev || undefined, apply: w.apply },
      }),
    );
    return {
      total: got.total,
      updated: got.updated,
      unchanged: got.unchanged.length,
      reasons: got.misfits.map((m) => [m.problems.map((p) => p.detail).join('; '), m.robots]),
    };
  }
  if (w.kind === 'back') {
    const got = await data(api.POST('/api/v1/assignments/revert', { body }));
    const reasons = new Map<string, string[]>();
    for (const s of got.skipped) reasons.set(s.detail, [...(reasons.get(s.detail) ?? []), s.robot]);
    for (const to of got.to) reasons.set(`→ ${to.story ? `${to.story} ${to.rev}` : '–'}`, to.robots);
    return {
      total: got.total,
      updated: got.to.flatMap((to) => to.robots),
      unchanged: got.skipped.length,
      reasons: [...reasons],
    };
  }
  const wish =
    w.kind === 'mode'
      ? { mode: { mode: w.mode, apply: (w.now ? 'now' : 'boot') as 'now' | 'boot' } }
      : w.kind === 'settings'
        ? { config: { set: { [w.key.trim()]: valueOf(w.value) } } }
        : { places: { id: w.id, body: valueOf(w.text) } };
  const got = await data(api.POST('/api/v1/desired', { body: { ...body, ...wish } as Schemas['DesiredRequest'] }));
  return {
    total: got.total,
    updated: got.updated,
    unchanged: got.unchanged.length,
    reasons: [],
  };
}
