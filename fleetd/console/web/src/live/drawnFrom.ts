import type { Detail, Robot, Schemas } from '../api/client';
import type { UnitKind } from '../contract';
import { type Drawn, type Gaze, type Over, wholeBody } from './drawn';
import { type Tone, toneOf } from './performing';

/** What a timeline shows at a moment: the part of a drawing that a story decides. */
export type Shown = Pick<Drawn, 'face' | 'led' | 'head' | 'says' | 'sound' | 'drive' | 'screen'>;

type Bar = Pick<Schemas['ScoreBar'], 'type' | 'text' | 'start_ms' | 'end_ms'>;
/** What a unit does by time, as fleetd draws it. */
export interface Lane {
  bars?: readonly Bar[] | null;
}

/** When a timeline may show something else than before: the beginnings and ends of its bars, in order. */
export const changesOf = (lanes: readonly Lane[]): number[] =>
  [...new Set(lanes.flatMap((l) => (l.bars ?? []).flatMap((b) => [b.start_ms, b.end_ms])))].sort((a, b) => a - b);

/** The act that follows the one at a place. After the last one there is only one if the story begins again. */
export const following = <Act>(acts: readonly Act[], place: number, loops: boolean): Act | undefined =>
  place < 0 ? undefined : (acts[place + 1] ?? (loops ? acts[0] : undefined));

const number = (text: string, found: RegExp) => {
  const n = found.exec(text)?.[1];
  return n === undefined ? undefined : Number(n);
};

/** The light in words such as "ear #ff8800 breathe". */
export function ledIn(text: string): Drawn['led'] {
  const color = /#[0-9a-f]{6}\b/i.exec(text)?.[0];
  const pattern = /\b(solid|blink|breathe|rainbow)\b/.exec(text)?.[1] as NonNullable<Drawn['led']>['pattern'];
  if (!color && pattern !== 'rainbow') return undefined;
  return color?.toLowerCase() === '#000000' ? undefined : { color, pattern, periodMS: number(text, /every (\d+) ms/) };
}

/** The direction in words such as "yaw 34.4°, pitch 0°", of a timeline or of a unit. */
export function gazeIn(text: string): Gaze {
  const of = (axis: string) => {
    const degrees = number(text, new RegExp(`\\b${axis} (-?[\\d.]+)°`));
    return degrees === undefined ? undefined : (degrees * Math.PI) / 180;
  };
  const all = { yawRad: of('yaw'), pitchRad: of('pitch'), rollRad: of('roll') };
  return Object.fromEntries(Object.entries(all).filter(([, v]) => v !== undefined));
}

/** The way in words such as "vx 0.3 m/s, wz -20°/s": forward or back, and to which side. */
export function wayIn(text: string): Drawn['drive'] {
  const of = (axis: string) => Math.sign(number(text, new RegExp(`\\b${axis} (-?[\\d.]+)`)) ?? 0);
  return { forward: of('vx'), left: of('wz') || of('vy') };
}

/** The text that fleetd put in quotes. */
export function unquoted(text: string): string {
  try {
    return text.startsWith('"') ? String(JSON.parse(text)) : text;
  } catch {
    return text; // there are answers behind it
  }
}

const overs: Record<Tone, Over | undefined> = {
  good: undefined,
  waiting: undefined,
  attention: 'attention',
  stopped: 'stopped',
  away: 'away',
};

/** What lies over the drawing of a robot. */
function overOf(r: Robot): Over | undefined {
  if (r.doing === 'asleep') return 'asleep';
  if (r.doing === 'paused' || r.doing === 'paused_by_safety') return 'paused';
  return overs[toneOf(r)];
}

/** Colours of the theme that people choose a robot's colour from: each differs from its neighbours in both schemes. */
export const robotColors = ['indigo', 'teal', 'orange', 'grape', 'lime', 'pink', 'cyan', 'yellow', 'violet', 'green'];

/** The label with the display name of a robot, and the one with its colour. */
export const [nameLabel, colorLabel] = ['name', 'colour'];

/** The colour of a robot: that of its label, or else one that its id always gives. */
export function colorOf(r: Pick<Robot, 'id' | 'labels'>): string {
  const chosen = r.labels[colorLabel];
  if (chosen && robotColors.includes(chosen)) return chosen;
  let sum = 0;
  for (const c of r.id) sum = (sum * 31 + c.codePointAt(0)!) % 9973;
  return robotColors[sum % robotColors.length]!;
}

/** What the units of a robot showed when it last published its state. */
function shownBy(state: Known['state']): Shown {
  const shown: Shown = {};
  for (const { kind, shows } of state?.units ?? []) {
    if (!shows) continue;
    if (kind === 'face') shown.face = shows;
    else if (kind === 'led') shown.led = ledIn(shows);
    else if (kind === 'head') shown.head = gazeIn(shows);
    else if (kind === 'speaker') shown.says = shows;
    else if (kind === 'screen') shown.screen = shows;
    else if (kind === 'drive') shown.drive = wayIn(shows);
  }
  return shown;
}

/**
 * For how long the robot has performed its act, in ms without pauses; undefined if it performs none. now is fleetd's
 * time.
 */
export function actMS(r: Robot, now: number): number | undefined {
  if (!r.act || (r.doing !== 'performing' && r.doing !== 'paused' && r.doing !== 'interrupt')) return undefined;
  return r.act_began ? Math.max(0, now - Date.parse(r.act_began)) : (r.act_ms ?? undefined);
}

/** What is known of a robot beside its row of the stream. */
interface Known {
  caps?: Pick<NonNullable<Detail['caps']>, 'units'>;
  state?: Pick<NonNullable<Detail['state']>, 'units'>;
  /** What the timeline of its story has now. */
  shown?: Shown;
}

/** The drawing of a robot: of its row in the stream, and of its documents and its story where they are known. */
export function drawnOf(r: Robot, { caps, state, shown }: Known = {}): Drawn {
  const over = overOf(r);
  const silent = over === 'away' || over === 'asleep' || over === 'stopped';
  return {
    ...(silent ? {} : (shown ?? (state && shownBy(state)))),
    has: (caps?.units?.map((u) => u.kind) ?? r.body?.units ?? wholeBody) as readonly UnitKind[],
    color: colorOf(r),
    charging: r.body?.charging,
    muted: r.body?.muted,
    driven: r.doing === 'manual' ? { by: r.control?.by || r.control?.holder } : undefined,
    over,
  };
}
