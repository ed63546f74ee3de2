import type { Drawn } from '../../live/drawn';
import type { Shown } from '../../live/drawnFrom';
import { type Multilingual, textIn } from '../../text/multilingual';
import type { Timeline } from '../library/api';
import type { Fields } from './model';

/** One action at its time in a performance; times in ms from its start. */
export interface Cue {
  start: number;
  end: number;
  action: Fields;
  /** The words that it says or shows. */
  words: string;
  lang: string;
}

/** What an audience sees and hears, in the order in which it begins. */
export function cuesOf(timeline: Pick<Timeline, 'lanes' | 'actions'>, wanted: string): Cue[] {
  const cues = (timeline.lanes ?? []).flatMap((lane, l) =>
    (lane.bars ?? []).map((b, k) => cueOf(b.start_ms, b.end_ms, (timeline.actions?.[l]?.[k] ?? {}) as Fields, wanted)),
  );
  return cues.sort((a, b) => a.start - b.start);
}

export function cueOf(start: number, end: number, action: Fields, wanted: string): Cue {
  const text = textIn(action.text as Multilingual | undefined, wanted);
  return { start, end, action, words: text?.text ?? '', lang: text?.lang ?? wanted };
}

const number = (v: unknown) => (typeof v === 'number' ? v : undefined);
const sign = (v: unknown) => Math.sign(Number(v ?? 0));

/** ms that a turn of the head takes if its action has an end of its own. */
const turn = 1500;

const lerp = (from: number, to: number | undefined, share: number) => from + ((to ?? from) - from) * share;

/** How a motion moves the head: a share of its length to an angle in radians. */
const motions: Record<string, (share: number) => { yawRad?: number; pitchRad?: number }> = {
  nod: (s) => ({ pitchRad: -0.3 * Math.abs(Math.sin(2 * Math.PI * s)) }),
  shake: (s) => ({ yawRad: 0.4 * Math.sin(4 * Math.PI * s) }),
  'look-around': (s) => ({ yawRad: 0.7 * Math.sin(2 * Math.PI * s) }),
};

/**
 * What the drawn robot shows at a time. An action that takes effect at once holds until the next of its kind; one that
 * ends gives way to what was there before it. The head stays where it was turned to.
 */
export function performedAt(cues: readonly Cue[], ms: number): Shown {
  const shown: Shown = {};
  const head = { yawRad: 0, pitchRad: 0, rollRad: 0 };
  let swing: ReturnType<(typeof motions)[string]> = {};
  for (const { start, end, action: a, words } of cues) {
    if (start > ms) break;
    const runs = ms < end;
    const holds = runs || start === end;
    switch (a.type) {
      case 'face':
        if (holds && a.face) shown.face = String(a.face);
        break;
      case 'led':
        if (holds) shown.led = lightOf(a);
        break;
      case 'screen':
        if (holds) shown.screen = words || String(a.view ?? a.image ?? '') || undefined;
        break;
      case 'say':
        if (runs) shown.says = words;
        break;
      case 'sound':
        if (runs && a.sound) shown.sound = String(a.sound);
        break;
      case 'head': {
        const takes = Math.min(end - start, typeof a.end_ms === 'number' ? turn : Infinity);
        const share = takes > 0 ? Math.min(1, (ms - start) / takes) : 1;
        head.yawRad = lerp(head.yawRad, number(a.yaw_rad), share);
        head.pitchRad = lerp(head.pitchRad, number(a.pitch_rad), share);
        head.rollRad = lerp(head.rollRad, number(a.roll_rad), share);
        break;
      }
      case 'motion':
        if (runs) swing = motions[String(a.motion)]?.((ms - start) / (end - start)) ?? {};
        break;
      case 'goto':
        if (runs) shown.drive = { forward: 1, left: 0 };
        break;
      case 'drive':
        if (runs) shown.drive = { forward: sign(a.vx_mps), left: sign(a.wz_radps) || sign(a.vy_mps) };
        break;
    }
  }
  shown.head = {
    yawRad: head.yawRad + (swing.yawRad ?? 0),
    pitchRad: head.pitchRad + (swing.pitchRad ?? 0),
    rollRad: head.rollRad,
  };
  return shown;
}

function lightOf(a: Fields): Drawn['led'] {
  const pattern = String(a.pattern ?? 'solid') as NonNullable<Drawn['led']>['pattern'];
  if (a.colour === '#000000') return undefined;
  return { color: typeof a.colour === 'string' ? a.colour : undefined, pattern, periodMS: number(a.period_ms) };
}

/** What begins after one time and until another: what is to be heard while a preview plays. */
export const begunBetween = (cues: readonly Cue[], after: number, until: number): Cue[] =>
  cues.filter((c) => c.start > after && c.start <= until);

/** What already runs at a time at which a preview begins. */
export const runningAt = (cues: readonly Cue[], ms: number): Cue[] => cues.filter((c) => c.start <= ms && ms < c.end);
