import type { Detail, Robot, Schemas } from '../../api/client';

/** One thing that keeps a robot from performing, and what ends it. */
export type Step =
  | {
      key:
        'connect' | 'adopt' | 'stopInput' | 'wait' | 'report' | 'reset' | 'resetAtRobot' | 'enable' | 'story' | 'start';
    }
  | { key: 'release'; latch: Robot['latches'][number] }
  /** Rests: the unit keeps the robot at rest; otherwise only the unit is not used. */
  | { key: 'repair'; unit: string; fault: string; rests: boolean; acknowledge: boolean }
  | { key: 'mode'; whyNot: { reason: string; detail?: string }[] }
  | { key: 'continue'; token: string; by: string; why: string }
  | { key: 'failing'; rounds: number; error: string; hint: string }
  /** A pause that ends by itself. */
  | { key: 'endsByItself'; why: string; detail: string };

/** Names a step while it lasts. What is known of its stop or cause may change meanwhile: a dialog stays open. */
export function stepID(s: Step): string {
  switch (s.key) {
    case 'release':
      return `release ${s.latch.id}`;
    case 'repair':
      return `repair ${s.unit}`;
    case 'continue':
      return `continue ${s.token}`;
    default:
      return s.key;
  }
}

/** Tokens of ato's own: they end with the interrupt or the activity that holds them. */
const own = /^(interrupt|activity)(:|$)/;

/** Whether a person asked for a pause; other pauses have a cause. */
const asked = (p: { token: string }) => p.token.startsWith('operator');

/** Whether a robot is connected, as fleetd sees it. */
export function reachable(robot: Robot): boolean {
  return robot.presence.status === 'online' || robot.presence.status === 'degraded';
}

/** The step about a unit. A fault that is gone, and heat from before a restart, are in its alert only. */
function repair(r: Robot, u: Schemas['SchemaDevice']): Step {
  const alert = r.alerts.find((a) => a.source === u.id && a.type.startsWith('device_'));
  const acknowledge = !!u.unacknowledged;
  const fault = u.fault ?? (acknowledge ? alert?.detail.replace(`unit ${u.id}: `, '') : undefined) ?? u.heat ?? '';
  return { key: 'repair', unit: u.id, fault, rests: u.effect === 'rest', acknowledge };
}

/**
 * What has to happen until a robot performs, in that order; empty if it does. A person does
 * the first one, then the next.
 */
export function wayOut(r: Robot, d?: Detail): Step[] {
  if (!reachable(r)) return [{ key: 'connect' }];
  if (!r.adopted) return [{ key: 'adopt' }];
  if (!r.safety) return [{ key: 'report' }];
  const steps: Step[] = [];
  if (r.estop_input) steps.push({ key: 'stopInput' });
  for (const latch of r.latches) steps.push({ key: 'release', latch });
  switch (r.safety) {
    case 'SOFT_STOP':
    case 'STOP':
      steps.push({ key: 'wait' }, { key: 'enable' });
      break;
    case 'HALT':
    case 'E_STOP':
      steps.push({ key: d?.state?.safety.local_reset ? 'resetAtRobot' : 'reset' }, { key: 'enable' });
      break;
    case 'RESET':
    case 'DISABLED':
      for (const u of d?.state?.diagnosis ?? []) if (u.effect === 'rest') steps.push(repair(r, u));
      steps.push({ key: 'enable' });
  }
  if (r.mode !== 'ato') {
    const ato = d?.modes?.modes.find((m) => m.id === 'ato');
    const whyNot = ato && !ato.selectable ? ato.why_not : [];
    if (whyNot.some((w) => w.reason === 'no_default_story')) steps.push({ key: 'story' });
    steps.push({ key: 'mode', whyNot });
    for (const p of r.pause_holders)
      if (asked(p)) steps.push({ key: 'continue', token: p.token, by: p.by ?? '', why: p.why ?? '' });
    return steps;
  }
  if (r.auto === 'stopped') steps.push(r.story ? { key: 'start' } : { key: 'story' });
  for (const p of r.auto === 'paused' ? r.pause_holders : []) {
    if (own.test(p.token)) continue;
    if (asked(p) || p.needs_continue || p.why === 'needs_continue')
      steps.push({ key: 'continue', token: p.token, by: p.by ?? '', why: asked(p) ? (p.why ?? '') : '' });
    else if (p.token !== 'safety')
      steps.push({
        key: 'endsByItself',
        why: p.why ?? '',
        detail: r.alerts.find((a) => a.type === p.why)?.detail ?? '',
      });
  }
  if (r.doing === 'failing') {
    const alert = r.alerts.find((a) => a.type === 'story_failing');
    for (const u of d?.state?.diagnosis ?? []) if (u.unacknowledged) steps.push(repair(r, u));
    steps.push({ key: 'failing', rounds: r.failed_rounds ?? 1, error: alert?.detail ?? '', hint: alert?.hint ?? '' });
  }
  return steps;
}

const before: Partial<Record<Step['key'], string[]>> & { continue: string[] } = {
  continue: ['mode'],
  reset: ['stopInput', 'release'],
  enable: ['stopInput', 'release', 'reset', 'resetAtRobot', 'repair', 'wait'],
};

/** What has to happen before the robot may move: until then only pauses of people can be ended. */
export const beforeMotion = (steps: readonly Step[]): Step[] =>
  steps.filter((s) => s.key === 'enable' || before.enable!.includes(s.key));

/** The step that has to come before the n-th one; undefined if that one can be done now, or if there is none. */
export function blocker(steps: readonly Step[], n: number): Step | undefined {
  const step = steps[n];
  if (!step) return undefined;
  // A pause with a cause goes on until that is over; a person's can be ended at any time in automatic.
  const first = step.key === 'continue' && !asked(step) ? [...before.continue, 'enable'] : before[step.key];
  return first && steps.slice(0, n).find((s) => first.includes(s.key));
}
