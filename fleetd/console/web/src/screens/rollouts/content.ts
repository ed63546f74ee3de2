import { bodiesOf } from '../assign/bodies';
import type { What } from '../assign/model';
import type { Content } from './types';

/** What a rollout brings; undefined for what robots had before, which a rollout rolls back to by itself. */
export function contentOf(w: What): Content | undefined {
  const { story, activities, desired } = bodiesOf(w);
  if (w.kind === 'back') return undefined;
  if (story) return { story: { id: story.story || undefined, rev: story.rev, apply: story.apply } };
  if (activities) return { activities: { pins: (activities.activities ?? []).map((id) => ({ id, rev: 0 })) } };
  if (desired?.mode) return { mode: desired.mode };
  if (desired?.config) return { config: desired.config };
  return desired?.places && { places: desired.places };
}
