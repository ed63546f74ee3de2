import type { Robot } from '../api/client';

/** Whether a robot can perform, from best to worst. */
export type Tone = 'good' | 'waiting' | 'attention' | 'stopped' | 'away';

/** What a robot does, in one word: fleetd decides it, for lists, filters and commands alike. */
export type Doing = Robot['doing'];

export const toneOf: Record<Doing, Tone> = {
  performing: 'good',
  failing: 'attention',
  activity: 'good',
  interrupt: 'good',
  paused: 'waiting',
  paused_by_safety: 'attention',
  story_ended: 'attention',
  no_story: 'attention',
  manual: 'waiting',
  start_up: 'waiting',
  safe_mode: 'attention',
  other_mode: 'waiting',
  switching: 'waiting',
  disabled: 'attention',
  waiting_for_release: 'stopped',
  needs_reset: 'stopped',
  stop_input: 'stopped',
  braking: 'stopped',
  clearing: 'waiting',
  not_reported: 'away',
  not_connected: 'away',
  asleep: 'away',
  not_adopted: 'attention',
};

/** What a robot does now, as a visitor would say it. The key names a text; the term is the contract's. */
export interface Performing {
  key: Doing;
  tone: Tone;
  /** The contract's term, such as "ato, idle" or "E_STOP". */
  term: string;
  /** What it is about: the story and act, an activity, a handler, a person. */
  of?: string;
}

/** What a robot does, with the contract's term and what it is about. */
export function performing(r: Robot): Performing {
  const as = (term: string, of?: string): Performing => ({ key: r.doing, tone: toneOf[r.doing] ?? 'away', term, of });
  switch (r.doing) {
    case 'not_connected':
    case 'asleep':
      return as(r.presence.view);
    case 'not_adopted':
      return as('not adopted');
    case 'waiting_for_release':
      return as(r.safety ?? 'latched');
    case 'needs_reset':
    case 'disabled':
      return as(r.safety ?? '', r.cause ?? r.latched_by);
    case 'stop_input':
    case 'braking':
    case 'clearing':
      return as(r.safety ?? '');
    case 'not_reported':
      return as('no state');
    case 'switching':
      return as(`${r.mode ?? ''} ${r.mode_phase ?? ''}`, r.intended);
    case 'manual':
      return as('mnl', r.control?.by || r.control?.holder);
    case 'start_up':
    case 'safe_mode':
    case 'other_mode':
      return as(r.mode ?? '', r.mode);
    default:
      return as(`ato, ${r.auto ?? ''}`, aboutAutomatic(r));
  }
}

function aboutAutomatic(r: Robot): string | undefined {
  const holder = r.pause_holders[0];
  switch (r.doing) {
    case 'performing':
      return [r.story?.id, r.act].filter(Boolean).join(', ');
    case 'interrupt':
      return r.interrupts[0] && `${r.interrupts[0].handler} (${r.interrupts[0].interrupter})`;
    case 'activity':
      return r.life?.focused;
    case 'paused_by_safety':
      return holder?.why;
    case 'paused':
      return holder && (holder.by || holder.why || holder.token);
    case 'story_ended':
      return r.auto_reason;
    default:
      return undefined;
  }
}
