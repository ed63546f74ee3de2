import type { Schemas } from '../../api/client';
import { valueOf, type What } from './model';

export type Document = Extract<What, { kind: 'mode' | 'settings' | 'places' }>;

/** What the body of a request says besides robots, number and reason, by the operation. */
export function bodiesOf(w: What): {
  story?: Pick<Schemas['Assignment'], 'story' | 'rev' | 'apply'>;
  activities?: Pick<Schemas['ActivitiesAssignment'], 'activities'>;
  desired?: Pick<Schemas['DesiredRequest'], 'mode' | 'config' | 'places' | 'previous'>;
} {
  switch (w.kind) {
    case 'story':
      return { story: { story: w.none ? '' : w.story, rev: (!w.none && w.rev) || undefined, apply: w.apply } };
    case 'back':
      return w.of ? { desired: { previous: w.of } } : {};
    case 'activities':
      return { activities: { activities: w.none ? [] : w.ids } };
    default:
      return { desired: documentOf(w) };
  }
}

function documentOf(w: Document): Pick<Schemas['DesiredRequest'], 'mode' | 'config' | 'places'> {
  switch (w.kind) {
    case 'mode':
      return { mode: { mode: w.mode, apply: w.now ? 'now' : 'boot' } };
    case 'settings':
      return { config: w.none ? { unset: [w.key.trim()] } : { set: { [w.key.trim()]: valueOf(w.value) } } };
    case 'places':
      if (w.none) return { places: {} };
      return { places: { id: w.id, body: valueOf(w.text) } };
  }
}
