import { complete, type What } from '../assign/model';
import { contentOf } from '../rollouts/content';
import type { Action } from './types';

/** What happens, as a person writes it. */
export interface ActionForm {
  kind: keyof Action;
  performance: NonNullable<Action['performance']>;
  mode: string;
  rollout: string;
  /** Another content than the present one. */
  what?: What;
  /** The present content, which stays as it is with its revisions. */
  content?: Action['assign'];
}

export const firstAction: ActionForm = {
  kind: 'performance',
  performance: 'start',
  mode: 'ato',
  rollout: '',
};

/** What is sent to fleetd; undefined while something is missing. */
export function actionOf(f: ActionForm): Action | undefined {
  switch (f.kind) {
    case 'performance':
      return { performance: f.performance };
    case 'mode':
      return { mode: f.mode };
    case 'rollout':
      return f.rollout ? { rollout: f.rollout } : undefined;
    case 'assign': {
      const content = f.what ? (complete(f.what) ? contentOf(f.what) : undefined) : f.content;
      return content && { assign: content };
    }
  }
}

/** How a person sees an action of fleetd. */
export function actionForm(a: Action): ActionForm {
  if (a.rollout) return { ...firstAction, kind: 'rollout', rollout: a.rollout };
  if (a.assign) return { ...firstAction, kind: 'assign', content: a.assign };
  if (a.mode) return { ...firstAction, kind: 'mode', mode: a.mode };
  return { ...firstAction, performance: a.performance ?? 'start' };
}
