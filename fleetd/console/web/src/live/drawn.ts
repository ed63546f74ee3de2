import type { UnitKind } from '../contract';
import { texts } from '../text/language';

/** Directions of a head, as the contract has them: yaw to the robot's left and pitch up are positive. */
export interface Gaze {
  yawRad?: number;
  pitchRad?: number;
  rollRad?: number;
}

/** What lies over a robot that does not perform. */
export type Over = 'stopped' | 'attention' | 'paused' | 'asleep' | 'away';

/** What is drawn of a robot. All of it is plain data, so that live state and a timeline can be drawn alike. */
export interface Drawn {
  /** The kinds of its units, from caps: what the body does not have is not drawn. */
  has: readonly UnitKind[];
  /** A colour that people gave the robot: a name of the theme's colours. */
  color?: string;
  /** The name of a face; left out: neutral. */
  face?: string;
  /** #rrggbb, and how it shines; left out: dark. */
  led?: { color?: string; pattern?: 'solid' | 'blink' | 'breathe' | 'rainbow'; periodMS?: number };
  head?: Gaze;
  /** The words that it says now. */
  says?: string;
  /** The name of the sound that it plays now. */
  sound?: string;
  /** Which way it drives: forward and to its left are positive. */
  drive?: { forward: number; left: number };
  /** What its screen shows. */
  screen?: string;
  charging?: boolean;
  muted?: boolean;
  /** A person drives it: who, as far as that is known. */
  driven?: { by?: string };
  over?: Over;
}

/** Every part that can be drawn, for a preview without a robot. */
export const wholeBody: readonly UnitKind[] = ['speaker', 'face', 'led', 'head', 'drive'];

/** Whether something of a drawing moves by itself. */
export const moves = ({ has, led, says, sound, drive }: Drawn): boolean =>
  (has.includes('led') && !!led?.pattern && led.pattern !== 'solid') ||
  (has.includes('face') && !!says) ||
  !!sound ||
  (has.includes('drive') && !!(drive?.forward || drive?.left));

/** ms of one turn of each pattern, if the robot says nothing else. */
const periods = { solid: 0, blink: 1000, breathe: 4800, rainbow: 3000 };

const rainbow = ['#ff4d4d', '#ffc14d', '#5bd75b', '#4db8ff', '#b366ff'];

/** From 0 to 1 and back. */
const upAndDown = (share: number) => 1 - Math.abs(1 - 2 * share);

/** What moves by itself in a drawing at a time, as variables of its style. */
export function movingAt({ led }: Drawn, ms: number): Record<'--shine' | '--led-now' | '--mouth' | '--wave', string> {
  const pattern = led?.pattern ?? 'solid';
  const given = Math.max(led?.periodMS ?? 0, led?.periodMS ? 200 : 0) * (pattern === 'breathe' ? 2 : 1);
  const period = given || periods[pattern];
  const share = period ? (ms % period) / period : 0;
  return {
    '--shine': String(pattern === 'blink' ? (share < 0.5 ? 1 : 0) : pattern === 'breathe' ? 1 - upAndDown(share) : 1),
    '--led-now': pattern === 'rainbow' ? rainbow[Math.floor(share * rainbow.length)]! : '',
    '--mouth': String(0.35 + 0.8 * upAndDown((ms % 600) / 600)),
    '--wave': ms % 1000 < 500 ? '1' : '0.1',
  };
}

/** The parts of a face. */
export interface Features {
  eyes: 'open' | 'wide' | 'half' | 'arcs' | 'up' | 'wink' | 'cross';
  mouth: 'line' | 'smile' | 'laugh' | 'sad' | 'round' | 'aside';
  /** The name of the face, if no drawing is known for it. */
  name?: string;
}

const neutral: Features = { eyes: 'open', mouth: 'line' };

const faces: Record<string, Features> = {
  neutral,
  smile: { eyes: 'open', mouth: 'smile' },
  laugh: { eyes: 'arcs', mouth: 'laugh' },
  sad: { eyes: 'half', mouth: 'sad' },
  sleepy: { eyes: 'half', mouth: 'line' },
  surprised: { eyes: 'wide', mouth: 'round' },
  thinking: { eyes: 'up', mouth: 'aside' },
  wink: { eyes: 'wink', mouth: 'smile' },
};

/** Other names of drivers for the same faces. */
const alike: Record<string, string> = {
  happy: 'smile',
  joy: 'laugh',
  laughing: 'laugh',
  unhappy: 'sad',
  crying: 'sad',
  sleep: 'sleepy',
  tired: 'sleepy',
  surprise: 'surprised',
  curious: 'thinking',
};

/** How a face is drawn. A face that only the driver knows is neutral, with its name. */
export function featuresOf(face: string | undefined): Features {
  if (!face) return neutral;
  const name = face.toLowerCase();
  return faces[name] ?? faces[alike[name] ?? ''] ?? { ...neutral, name: face };
}

/** Degrees of a turn that is seen as one. */
const seen = 3;
const degrees = (rad = 0) => Math.round((rad * 180) / Math.PI);

export const useDrawnTexts = texts(
  {
    robot: 'Robot',
    face: (face: string) => `face: ${face}`,
    faces: {
      neutral: 'neutral',
      smile: 'smiling',
      laugh: 'laughing',
      sad: 'sad',
      sleepy: 'sleepy',
      surprised: 'surprised',
      thinking: 'thinking',
      wink: 'winking',
    },
    says: (words: string) => `says “${words}”`,
    sound: (name: string) => `plays the sound ${name}`,
    screen: (what: string) => `its screen shows ${what}`,
    light: (color: string, how: string) => ['light', color, how].filter(Boolean).join(' '),
    patterns: { solid: '', blink: 'blinking', breathe: 'breathing', rainbow: 'in all colors' },
    headLeft: (deg: number) => `head ${deg}° to its left`,
    headRight: (deg: number) => `head ${deg}° to its right`,
    headUp: (deg: number) => `looking ${deg}° up`,
    headDown: (deg: number) => `looking ${deg}° down`,
    forward: 'drives forward',
    back: 'drives back',
    left: 'turns to its left',
    right: 'turns to its right',
    charging: 'charging',
    muted: 'muted',
    driven: (by: string) => (by ? `${by} drives it` : 'a person drives it'),
    over: {
      stopped: 'stopped',
      attention: 'needs attention',
      paused: 'paused',
      asleep: 'asleep',
      away: 'not connected',
    },
  },
  {
    robot: 'Roboter',
    face: (face) => `Gesicht: ${face}`,
    faces: {
      neutral: 'neutral',
      smile: 'lächelt',
      laugh: 'lacht',
      sad: 'traurig',
      sleepy: 'müde',
      surprised: 'überrascht',
      thinking: 'denkt nach',
      wink: 'zwinkert',
    },
    says: (words) => `sagt „${words}“`,
    sound: (name) => `spielt den Ton ${name}`,
    screen: (what) => `sein Bildschirm zeigt ${what}`,
    light: (color, how) => ['Licht', color, how].filter(Boolean).join(' '),
    patterns: { solid: '', blink: 'blinkt', breathe: 'atmet', rainbow: 'in allen Farben' },
    headLeft: (deg) => `Kopf ${deg}° nach links`,
    headRight: (deg) => `Kopf ${deg}° nach rechts`,
    headUp: (deg) => `blickt ${deg}° nach oben`,
    headDown: (deg) => `blickt ${deg}° nach unten`,
    forward: 'fährt vorwärts',
    back: 'fährt rückwärts',
    left: 'dreht nach links',
    right: 'dreht nach rechts',
    charging: 'lädt',
    muted: 'stumm',
    driven: (by) => (by ? `${by} fährt ihn` : 'eine Person fährt ihn'),
    over: {
      stopped: 'gestoppt',
      attention: 'braucht Aufmerksamkeit',
      paused: 'pausiert',
      asleep: 'schläft',
      away: 'nicht verbunden',
    },
  },
  {
    robot: 'Robot',
    face: (face) => `visage : ${face}`,
    faces: {
      neutral: 'neutre',
      smile: 'sourit',
      laugh: 'rit',
      sad: 'triste',
      sleepy: 'fatigué',
      surprised: 'surpris',
      thinking: 'réfléchit',
      wink: 'fait un clin d’œil',
    },
    says: (words) => `dit « ${words} »`,
    sound: (name) => `joue le son ${name}`,
    screen: (what) => `son écran montre ${what}`,
    light: (color, how) => ['lumière', color, how].filter(Boolean).join(' '),
    patterns: { solid: '', blink: 'qui clignote', breathe: 'qui respire', rainbow: 'de toutes les couleurs' },
    headLeft: (deg) => `tête à ${deg}° vers sa gauche`,
    headRight: (deg) => `tête à ${deg}° vers sa droite`,
    headUp: (deg) => `regarde à ${deg}° vers le haut`,
    headDown: (deg) => `regarde à ${deg}° vers le bas`,
    forward: 'avance',
    back: 'recule',
    left: 'tourne vers sa gauche',
    right: 'tourne vers sa droite',
    charging: 'en charge',
    muted: 'muet',
    driven: (by) => (by ? `${by} le conduit` : 'une personne le conduit'),
    over: {
      stopped: 'arrêté',
      attention: 'demande de l’attention',
      paused: 'en pause',
      asleep: 'en veille',
      away: 'non connecté',
    },
  },
);

/** What the picture shows, in one sentence for those who do not see it. */
export function sentenceOf(d: Drawn, t: ReturnType<typeof useDrawnTexts>, name = ''): string {
  const has = (kind: UnitKind) => d.has.includes(kind);
  const { yawRad, pitchRad } = d.head ?? {};
  const [yaw, pitch] = [degrees(yawRad), degrees(pitchRad)];
  const face = d.face && (t.faces[d.face as keyof typeof t.faces] ?? t.face(d.face));
  const { forward = 0, left = 0 } = d.drive ?? {};
  const parts = [
    d.over && t.over[d.over],
    d.driven && t.driven(d.driven.by ?? ''),
    has('face') && face,
    has('led') && d.led && t.light(d.led.color ?? '', t.patterns[d.led.pattern ?? 'solid']),
    has('head') && yaw >= seen && t.headLeft(yaw),
    has('head') && yaw <= -seen && t.headRight(-yaw),
    has('head') && pitch >= seen && t.headUp(pitch),
    has('head') && pitch <= -seen && t.headDown(-pitch),
    has('drive') && forward !== 0 && (forward > 0 ? t.forward : t.back),
    has('drive') && left !== 0 && (left > 0 ? t.left : t.right),
    d.says && t.says(d.says),
    d.sound && t.sound(d.sound),
    d.screen && t.screen(d.screen),
    d.charging && t.charging,
    d.muted && t.muted,
  ].filter(Boolean);
  return `${name || t.robot}${parts.length ? ': ' : ''}${parts.join(', ')}`;
}

/** The words of a bubble in lines of about so many characters; the last one ends with … if there is more. */
export function linesOf(words: string, width = 21, most = 3): string[] {
  const lines: string[] = [];
  for (let word of words.trim().split(/\s+/)) {
    for (;;) {
      const last = lines.at(-1);
      if (last !== undefined && last.length + 1 + word.length <= width) {
        lines[lines.length - 1] = `${last} ${word}`;
        break;
      }
      lines.push(word.slice(0, width));
      if (word.length <= width) break;
      word = word.slice(width);
    }
  }
  if (lines.length <= most) return lines;
  return [...lines.slice(0, most - 1), `${lines[most - 1]!.slice(0, width - 1)}…`];
}
