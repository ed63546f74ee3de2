import type { Robot } from '../api/client';

/** Whether a robot can perform, from best to worst. */
export type Tone = 'good' | 'waiting' | 'attention' | 'stopped' | 'away';

/** What a robot does now, as a visitor would say it. The key names a text; the term is the contract's. */
export interface Performing {
  key:
    | 'performing'
    | 'activity'
    | 'interrupt'
    | 'paused'
    | 'pausedBySafety'
    | 'storyEnded'
    | 'noStory'
    | 'manual'
    | 'startUp'
    | 'safeMode'
    | 'otherMode'
    | 'switching'
    | 'disabled'
    | 'waitingForRelease'
    | 'needsReset'
    | 'stopInput'
    | 'braking'
    | 'clearing'
    | 'notReported'
    | 'notConnected'
    | 'asleep'
    | 'notAdopted';
  tone: Tone;
  /** The contract's term, such as "ato, idle" or "E_STOP". */
  term: string;
  /** What it is about: the story and act, an activity, a handler, a person. */
  of?: string;
}

const awayViews = new Set(['offline', 'lost', 'unknown']);

/** Decides what a robot does, the most important first: absence, stops, safety, mode, story. */
export function performing(r: Robot): Performing {
  if (awayViews.has(r.presence.view)) return { key: 'notConnected', tone: 'away', term: r.presence.view };
  if (r.presence.view === 'sleeping') return { key: 'asleep', tone: 'away', term: 'sleeping' };
  if (!r.adopted) return { key: 'notAdopted', tone: 'attention', term: 'not adopted' };
  if (r.latches.length > 0) return { key: 'waitingForRelease', tone: 'stopped', term: r.safety ?? 'latched' };
  if (r.estop_input) return { key: 'stopInput', tone: 'stopped', term: r.safety ?? 'E_STOP' };
  switch (r.safety) {
    case 'E_STOP':
      return { key: 'needsReset', tone: 'stopped', term: 'E_STOP', of: r.cause ?? r.latched_by };
    case 'SOFT_STOP':
    case 'STOP':
    case 'HALT':
      return { key: 'braking', tone: 'stopped', term: r.safety };
    case 'RESET':
      return { key: 'clearing', tone: 'waiting', term: r.safety };
    case 'DISABLED':
      return { key: 'disabled', tone: 'attention', term: r.safety, of: r.cause };
    case undefined:
    case '':
      return { key: 'notReported', tone: 'away', term: 'no state' };
  }
  if (r.mode_phase && r.mode_phase !== 'running')
    return { key: 'switching', tone: 'waiting', term: `${r.mode ?? ''} ${r.mode_phase}`, of: r.intended };
  switch (r.mode) {
    case 'ato':
      return inAutomatic(r);
    case 'mnl':
      return { key: 'manual', tone: 'waiting', term: 'mnl', of: r.control?.by || r.control?.holder };
    case 'str':
      return { key: 'startUp', tone: 'waiting', term: 'str' };
    case 'safe':
      return { key: 'safeMode', tone: 'attention', term: 'safe' };
    default:
      return { key: 'otherMode', tone: 'waiting', term: r.mode ?? '', of: r.mode };
  }
}

function inAutomatic(r: Robot): Performing {
  const act = [r.story?.id, r.act].filter(Boolean).join(', ');
  if (r.auto === 'idle') return { key: 'performing', tone: 'good', term: 'ato, idle', of: act };
  if (r.auto === 'paused') {
    const handler = r.interrupts[0];
    if (handler)
      return { key: 'interrupt', tone: 'good', term: 'ato, paused', of: `${handler.handler} (${handler.interrupter})` };
    if (r.life?.focused && r.pause_holders.every((p) => p.token.startsWith('activity:'))) {
      return { key: 'activity', tone: 'good', term: 'ato, paused', of: r.life.focused };
    }
    const holder = r.pause_holders[0];
    if (holder?.token === 'safety')
      return { key: 'pausedBySafety', tone: 'attention', term: 'ato, paused', of: holder.why };
    return {
      key: 'paused',
      tone: 'waiting',
      term: 'ato, paused',
      of: holder && (holder.by || holder.why || holder.token),
    };
  }
  if (r.life?.focused) return { key: 'activity', tone: 'good', term: `ato, ${r.auto ?? ''}`, of: r.life.focused };
  if (!r.story) return { key: 'noStory', tone: 'attention', term: 'ato, stopped' };
  return { key: 'storyEnded', tone: 'attention', term: `ato, ${r.auto ?? ''}`, of: r.auto_reason };
}
