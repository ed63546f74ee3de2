import type { Robot } from '../api/client';

/** Whether a robot can perform, from best to worst. */
export type Tone = 'good' | 'waiting' | 'attention' | 'stopped' | 'away';

/** What a robot does, in one word: fleetd decides it, for lists, filters and commands alike. */
export type Doing = Robot['doing'];

const tones: Record<Doing, Tone> = {
  performing: 'good',
  failing: 'attention',
  activity: 'good',
  interrupt: 'good',
  paused: 'waiting',
  paused_by_safety: 'attention', // a stop holds the story, though the robot may move again
  story_ended: 'waiting', // a story that is performed once is over, or a person stopped it
  no_story: 'attention',
  manual: 'waiting', // on purpose: a person drives it
  undriven: 'attention',
  start_up: 'waiting',
  safe_mode: 'attention',
  other_mode: 'waiting',
  switching: 'waiting',
  disabled: 'attention',
  waiting_for_release: 'stopped',
  needs_reset: 'stopped',
  stop_input: 'stopped',
  braking: 'stopped',
  resetting: 'waiting',
  not_reported: 'away',
  not_connected: 'away',
  asleep: 'away',
  not_adopted: 'attention',
};

export const allDoing = Object.keys(tones) as Doing[];

/** Whether a robot is paused though the cause is over: it waits until a person continues it. */
export const waitsForContinue = (r: Pick<Robot, 'doing' | 'pause_holders'>): boolean =>
  (r.doing === 'paused' || r.doing === 'paused_by_safety') && r.pause_holders.some((p) => p.why === 'needs_continue');

/** Whether a robot can perform. */
export const toneOf = (r: Pick<Robot, 'doing'>): Tone => tones[r.doing] ?? 'away';

/** What robots with this tone do. */
export const doingOf = (tone: Tone): Doing[] => allDoing.filter((d) => tones[d] === tone);

/** A code of the contract in the table of its words. */
export type Term = [table: 'ModeID' | 'ModePhase' | 'AutoStatus' | 'SafetyState' | 'presence' | 'mark', code: string];

/** What a robot does now, as a visitor would say it. The key names a text; the terms are the contract's. */
export interface Performing {
  key: Doing;
  tone: Tone;
  /** The contract's terms, each with the table that has words for it. */
  terms: Term[];
  /** What it is about: the ids of the story and its act, an activity, a handler, a person, or the code of a reason. */
  of?:
    | string
    | { reason: string }
    | { handler: string; interrupter: string }
    | { story?: string; act?: string }
    | { alert: Robot['alerts'][number] }
    /** What stopped it, as the robot writes it: latched_by. */
    | { by: string };
}

/** What a robot does, with the contract's terms and what it is about. */
export function performing(r: Robot): Performing {
  const as = (terms: Term[], of?: Performing['of']): Performing => ({
    key: r.doing,
    tone: toneOf(r),
    terms,
    of,
  });
  const safety: Term = ['SafetyState', r.safety ?? '?'];
  const mode: Term = ['ModeID', r.mode ?? '?'];
  switch (r.doing) {
    case 'not_connected':
    case 'asleep':
      return as([['presence', r.presence.status]]);
    case 'not_adopted':
      return as([['mark', 'not adopted']]);
    case 'waiting_for_release':
      return as([safety, ['mark', 'latched']], stoppedBy(r.latches[0]));
    case 'disabled':
      // The cause outlasts the stop: "release it first" would contradict the step that is next.
      if (r.cause === 'latched') return as([safety], { reason: 'stop_released' });
      return as([safety], r.cause ? { reason: r.cause } : { by: r.latched_by ?? '' });
    case 'needs_reset':
      return as([safety], r.cause ? { reason: r.cause } : { by: r.latched_by ?? '' });
    case 'stop_input':
    case 'braking':
    case 'resetting':
      return as([safety]);
    case 'not_reported':
      return as([['mark', 'no state']]);
    case 'switching':
      return as([mode, ['ModePhase', r.mode_phase ?? 'switching']], r.intended);
    case 'manual':
    case 'undriven':
      return as([mode], r.control?.by || r.control?.holder);
    case 'start_up':
    case 'safe_mode':
      return as([mode]);
    case 'other_mode':
      return as([mode], r.mode);
    default:
      return as([mode, ['AutoStatus', r.auto ?? '?']], aboutAutomatic(r));
  }
}

/** Who stopped it, and why. */
function stoppedBy(latch?: Robot['latches'][number]): string | undefined {
  return latch && [latch.by || latch.client, latch.why].filter(Boolean).join(': ');
}

function aboutAutomatic(r: Robot): Performing['of'] {
  const holder = r.pause_holders[0];
  switch (r.doing) {
    case 'performing':
      return { story: r.story?.id, act: r.act };
    case 'interrupt':
      return r.interrupts[0] && { handler: r.interrupts[0].handler, interrupter: r.interrupts[0].interrupter };
    case 'activity':
      return r.life?.focused;
    case 'failing': {
      const alert = r.alerts.find((a) => a.type === 'story_failing');
      return alert ? { alert } : { story: r.story?.id };
    }
    case 'paused_by_safety':
      return holder?.why ? { reason: holder.why } : undefined;
    case 'paused':
      if (!holder) return undefined;
      if (holder.token.startsWith('operator'))
        return [holder.by, holder.why].filter(Boolean).join(': ') || holder.token;
      return { reason: holder.why || holder.token };
    case 'story_ended':
      return r.auto_reason ? { reason: r.auto_reason } : { story: r.story?.id };
    default:
      return undefined;
  }
}
