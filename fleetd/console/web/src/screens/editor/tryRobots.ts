import type { Robot } from '../../api/client';

/** Whether a draft can be tried on a robot: now, after a step in the dialog, or not now. */
export type Fitness = 'ready' | 'step' | 'cannot';

/** What a robot does while no person's step in the dialog makes it ready. */
const cannot = new Set<Robot['doing']>([
  'not_connected',
  'asleep',
  'not_adopted',
  'not_reported',
  'waiting_for_release',
  'needs_reset',
  'stop_input',
  'braking',
  'resetting',
  'switching',
  'safe_mode',
]);

/** Whether a draft can be tried on a robot, which has to be in mnl, enabled, and controlled by nobody. */
export function fitness(r: Robot): Fitness {
  if (cannot.has(r.doing) || r.latches.length > 0 || r.control) return 'cannot';
  return r.mode === 'mnl' && r.safety === 'ENABLED' ? 'ready' : 'step';
}

/** The robot to try on if the author chose none: the only one that is ready, so that never the wrong one moves. */
export function onlyReady(robots: readonly Robot[]): string {
  const ready = robots.filter((r) => fitness(r) === 'ready');
  return ready.length === 1 ? ready[0]!.id : '';
}
