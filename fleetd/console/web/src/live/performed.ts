import type { Drawn } from './drawn';
import { gazeIn, type Lane, ledIn, type Shown, unquoted, wayIn } from './drawnFrom';

/** One action at its time in a performance; times in ms from its start. */
export interface Cue {
  start: number;
  end: number;
  /** Its fields, as files have them. */
  action: Record<string, unknown>;
  /** The words that it says or shows. */
  words: string;
  lang: string;
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
 * What a drawn robot shows at a time. An action that takes effect at once holds until the next of its kind; one that
 * ends gives way to what was there before it. The head stays where it was turned to. If the picture is drawn only when
 * something changes, a head is where it turns to at once: the drawing moves it there.
 */
export function performedAt(cues: readonly Cue[], ms: number, atOnce = false): Shown {
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
        const takes = atOnce ? 0 : Math.min(end - start, typeof a.end_ms === 'number' ? turn : Infinity);
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

function lightOf(a: Cue['action']): Drawn['led'] {
  const pattern = String(a.pattern ?? 'solid') as NonNullable<Drawn['led']>['pattern'];
  if (a.colour === '#000000') return undefined;
  return { color: typeof a.colour === 'string' ? a.colour : undefined, pattern, periodMS: number(a.period_ms) };
}

/** ms for which words and sounds whose length is not known stay. */
const readable = 1500;

/** The cues of the bars that fleetd draws of a story, of which only the words are known, in the order of their begin. */
export function cuesOfBars(lanes: readonly Lane[]): Cue[] {
  return lanes
    .flatMap((l) => l.bars ?? [])
    .map(({ type, text = '', start_ms: start, end_ms: end }) => ({
      start,
      end: end === start && (type === 'say' || type === 'sound') ? start + readable : end,
      action: { type, ...fieldsIn(type, text) },
      words: unquoted(text),
      lang: '',
    }))
    .sort((a, b) => a.start - b.start);
}

/** The fields of an action in the words of its bar. */
function fieldsIn(type: string, text: string): Record<string, unknown> {
  switch (type) {
    case 'face':
      return { face: text };
    case 'sound':
      return { sound: text };
    case 'led': {
      const led = ledIn(text);
      return led ? { colour: led.color, pattern: led.pattern, period_ms: led.periodMS } : { colour: '#000000' };
    }
    case 'head': {
      const { yawRad, pitchRad, rollRad } = gazeIn(text);
      return { yaw_rad: yawRad, pitch_rad: pitchRad, roll_rad: rollRad };
    }
    case 'drive': {
      const way = wayIn(text);
      return { vx_mps: way?.forward, wz_radps: way?.left };
    }
  }
  return {};
}
