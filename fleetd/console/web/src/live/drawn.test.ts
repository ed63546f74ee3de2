import { readFileSync } from 'node:fs';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test, vi } from 'vitest';

import type { Detail, Robot } from '../api/client';
import { type Drawn, featuresOf, linesOf, moves, movingAt, sentenceOf, useDrawnTexts, wholeBody } from './drawn';
import { actMS, changesOf, colorOf, drawnOf, following, robotColors } from './drawnFrom';
import { DrawnRobot } from './DrawnRobot';
import { cuesOfBars, performedAt } from './performed';
import { fullName } from './RobotName';

vi.mock('../text/language', () => ({ texts: (en: object) => Object.assign(() => en, { now: () => en }) }));

// Documents of a simulated robot, as topics.md prints them.
const caps = {
  units: [
    { id: 'speaker', kind: 'speaker', sounds: ['applause', 'bell'] },
    { id: 'face', kind: 'face', faces: ['laugh', 'neutral', 'smile'] },
    { id: 'led', kind: 'led' },
    { id: 'head', kind: 'head', yaw_rad: { min: -1.2, max: 1.2 } },
    { id: 'drive', kind: 'drive', max_speed_mps: 0.6 },
    { id: 'battery', kind: 'battery' },
  ],
} as unknown as NonNullable<Detail['caps']>;
const state = {
  units: [
    { id: 'speaker', kind: 'speaker', state: 'idle', detail: 'volume 0 %', shows: 'Good day' },
    { id: 'face', kind: 'face', state: 'idle', shows: 'sad' },
    { id: 'head', kind: 'head', state: 'run', shows: 'yaw -20°, speed 0.5' },
    { id: 'battery', kind: 'battery', state: 'idle', detail: '100 %, charging' },
  ],
} as unknown as NonNullable<Detail['state']>;
const robot = {
  id: 'r1',
  labels: {},
  doing: 'performing',
  presence: { status: 'online' },
  latches: [],
  pause_holders: [],
} as unknown as Robot;
const lanes = [
  { bars: [{ type: 'say', text: '"Hello there"', start_ms: 0, end_ms: 2000 }] },
  {
    bars: [
      { type: 'face', text: 'smile', start_ms: 500, end_ms: 500 },
      { type: 'face', text: 'laugh', start_ms: 3000, end_ms: 3000 },
    ],
  },
  { bars: [{ type: 'led', text: '#ff8800 breathe', start_ms: 100, end_ms: 4000 }] },
  {
    bars: [
      { type: 'head', text: 'yaw 34.4°, pitch 0°', start_ms: 1000, end_ms: 1800 },
      { type: 'head', text: 'pitch -10°', start_ms: 2500, end_ms: 2900 },
    ],
  },
  { bars: [{ type: 'drive', text: 'vx -0.2 m/s, wz 20°/s', start_ms: 2000, end_ms: 3000 }] },
];
const shownAt = (bars: typeof lanes, ms: number) => performedAt(cuesOfBars(bars), ms, true);
const picture = (of: Drawn, name?: string) => renderToStaticMarkup(createElement(DrawnRobot, { of, name }));

test('a timeline shows what began and has not been replaced, and speech and driving only while they last', () => {
  expect(shownAt(lanes, 0)).toEqual({ says: 'Hello there', head: { yawRad: 0, pitchRad: 0, rollRad: 0 } });
  expect(shownAt(lanes, 1900)).toMatchObject({
    says: 'Hello there',
    face: 'smile',
    led: { color: '#ff8800', pattern: 'breathe' },
  });
  const later = shownAt(lanes, 2700);
  expect(later.says).toBeUndefined();
  expect(later.drive).toEqual({ forward: -1, left: 1 });
  expect(later.head?.yawRad).toBeCloseTo(0.6, 2); // the second turn leaves the yaw as it is
  expect(later.head?.pitchRad).toBeCloseTo(-0.175, 2);
  expect(shownAt(lanes, 9000)).toMatchObject({ face: 'laugh' });
});

test('a drawing is looked at again when a bar of the timeline begins or ends, once if several do', () => {
  expect(changesOf(lanes)).toEqual([0, 100, 500, 1000, 1800, 2000, 2500, 2900, 3000, 4000]);
  expect(changesOf([{ bars: null }, {}])).toEqual([]);
});

test('after its last act a story goes on only if it begins again', () => {
  const acts = ['bow', 'wave'];
  expect(following(acts, 0, false)).toBe('wave');
  expect(following(acts, 1, true)).toBe('bow');
  expect(following(acts, 1, false)).toBeUndefined();
  expect(following(acts, -1, true)).toBeUndefined();
});

test('a robot with a display name has its id in a sentence too', () => {
  expect(fullName(robot)).toBe('r1');
  expect(fullName({ id: 'r1', labels: { name: 'Lina' } })).toBe('Lina (r1)');
});

test('without a timeline a drawing has what the units reported', () => {
  const d = drawnOf(robot, { caps, state });
  expect(d).toMatchObject({ says: 'Good day', face: 'sad' });
  expect(d.led).toBeUndefined();
  expect(d.head?.yawRad).toBeCloseTo(-0.349, 3);
});

test('an act goes on from when it began, and stands while the story is paused', () => {
  const now = Date.parse('2026-11-01T10:00:07Z');
  const act = { ...robot, act: 'greet' };
  expect(actMS({ ...act, act_began: '2026-11-01T10:00:02Z' }, now)).toBe(5000);
  expect(actMS({ ...act, doing: 'paused', act_ms: 1200 }, now)).toBe(1200);
  expect(actMS({ ...act, doing: 'not_connected', act_began: '2026-11-01T10:00:02Z' }, now)).toBeUndefined();
});

test('a drawing has the parts of the body, and what is said of its battery and volume', () => {
  const d = drawnOf({ ...robot, body: { charging: true, muted: true } }, { caps, state, shown: shownAt(lanes, 1900) });
  expect(d).toMatchObject({ has: ['speaker', 'face', 'led', 'head', 'drive', 'battery'], charging: true, muted: true });
  expect(d.over).toBeUndefined();
  const headless = { ...d, has: ['speaker', 'led'] as const };
  expect(picture(d)).toContain('rotate(');
  expect(picture(headless)).not.toContain('rotate(');
  expect(sentenceOf(headless, useDrawnTexts())).not.toContain('head');
});

test.each([
  [{ doing: 'waiting_for_release' }, 'stopped'],
  [{ doing: 'stop_input' }, 'stopped'],
  [{ doing: 'not_connected' }, 'away'],
  [{ doing: 'asleep' }, 'asleep'],
  [{ doing: 'disabled' }, 'attention'],
  [{ doing: 'paused' }, 'paused'],
  [{ doing: 'performing' }, undefined],
])('%o is drawn with %s over it, and what is stopped or away shows nothing of its story', (row, over) => {
  const d = drawnOf({ ...robot, ...row } as Robot, { caps, shown: shownAt(lanes, 1900) });
  expect(d.over).toBe(over);
  expect(!!d.says).toBe(over === undefined || over === 'paused' || over === 'attention');
  expect(picture(d).includes(`data-sign="${over}"`)).toBe(over !== undefined);
});

test('a person who drives it is in the picture and in the sentence', () => {
  const d = drawnOf({ ...robot, doing: 'manual', control: { holder: 'fleetd', by: 'Ada' } } as unknown as Robot, {
    caps,
  });
  expect(picture(d, 'Lina')).toContain('data-sign="driven"');
  expect(sentenceOf(d, useDrawnTexts(), 'Lina')).toBe('Lina: Ada drives it');
});

test('the sentence says all that the picture shows', () => {
  const d: Drawn = {
    has: wholeBody,
    face: 'smile',
    led: { color: '#ff8800', pattern: 'blink' },
    head: { yawRad: -0.35, pitchRad: 0.2 },
    says: 'Hello',
    sound: 'bell',
    drive: { forward: 1, left: 0 },
    charging: true,
    muted: true,
  };
  const sentence =
    'Lina: smiling, light #ff8800 blinking, head 20° to its right, looking 11° up, drives forward, says “Hello”, plays the sound bell, charging, muted';
  expect(sentenceOf(d, useDrawnTexts(), 'Lina')).toBe(sentence);
  expect(picture(d, 'Lina')).toContain(`aria-label="${sentence}"`);
});

test('at rest nothing is animated: no pattern, no mouth that talks, no arrows, no waves', () => {
  const rest = picture({ has: wholeBody });
  expect(rest).not.toMatch(/data-pattern="|talks|wave|_way/);
  expect(picture({ has: wholeBody, says: 'Hi', led: { pattern: 'rainbow' } })).toMatch(
    /talks.*|data-pattern="rainbow"/,
  );
});

test('words of robots are set as text', () => {
  expect(picture({ has: wholeBody, says: '<b>x</b>' })).toContain('&lt;b&gt;x&lt;/b&gt;');
});

test('a face that only the driver knows is drawn with its name', () => {
  expect(featuresOf('grumpy')).toEqual({ eyes: 'open', mouth: 'line', name: 'grumpy' });
  expect(featuresOf('happy')).toEqual(featuresOf('smile'));
  expect(picture({ has: wholeBody, face: 'grumpy' })).toContain('>grumpy</text>');
});

test('long words become three lines at most', () => {
  expect(linesOf('Welcome to the museum')).toEqual(['Welcome to the museum']);
  const lines = linesOf('word '.repeat(40));
  expect(lines).toHaveLength(3);
  expect(lines.every((l) => l.length <= 21)).toBe(true);
  expect(lines.at(-1)).toMatch(/…$/);
  expect(linesOf('x'.repeat(50))).toEqual(['x'.repeat(21), 'x'.repeat(21), 'x'.repeat(8)]);
});

test('a robot keeps its colour; a label gives it another one of the theme', () => {
  expect(robotColors).toContain(colorOf({ id: 'r1', labels: {} }));
  expect(colorOf({ id: 'r1', labels: {} })).toBe(colorOf({ id: 'r1', labels: { site: 'x' } }));
  expect(colorOf({ id: 'r1', labels: { colour: 'teal' } })).toBe('teal');
  expect(robotColors).toContain(colorOf({ id: 'r1', labels: { colour: 'url(x)' } }));
});

test('what blinks, breathes and talks changes with the time, and nothing else moves', () => {
  const body = { has: wholeBody };
  expect(moves({ ...body, led: { color: '#00aaff', pattern: 'solid' }, face: 'smile' })).toBe(false);
  const blinks: Drawn = { ...body, led: { color: '#00aaff', pattern: 'blink', periodMS: 400 } };
  expect(moves(blinks)).toBe(true);
  expect([0, 100, 200, 300, 400].map((ms) => movingAt(blinks, ms)['--shine'])).toEqual(['1', '1', '0', '0', '1']);
  const breathes: Drawn = { ...body, led: { color: '#00aaff', pattern: 'breathe', periodMS: 1000 } };
  expect([0, 500, 1000, 2000].map((ms) => movingAt(breathes, ms)['--shine'])).toEqual(['1', '0.5', '0', '1']);
  const colours: Drawn = { ...body, led: { pattern: 'rainbow', periodMS: 1000 } };
  expect(movingAt(colours, 0)['--led-now']).not.toBe(movingAt(colours, 200)['--led-now']);
  expect(movingAt(blinks, 0)['--led-now']).toBe('');
  expect(moves({ ...body, says: 'Hello' })).toBe(true);
  expect(moves({ has: ['led'], says: 'Hello' })).toBe(false);
});

test('what moves by itself is not a colour of the picture, which would be gone while it moves', () => {
  const style = readFileSync('src/live/DrawnRobot.module.css', 'utf8');
  const set = [...style.matchAll(/^\s*(--[\w-]+):/gm)].map((m) => m[1]);
  expect(set).toContain('--lit');
  for (const name of Object.keys(movingAt({ has: [] }, 0))) {
    expect(set).not.toContain(name);
    expect(style).toContain(`var(${name},`);
  }
});
