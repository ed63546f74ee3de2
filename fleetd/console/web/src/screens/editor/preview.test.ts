import { readdirSync, readFileSync } from 'node:fs';

import { describe, expect, it, vi } from 'vitest';

import { performedAt } from '../../live/performed';
import type { Timeline } from '../library/api';
import { begunBetween, cueOf, cuesOf, runningAt } from './preview';

vi.mock('../../text/language', () => ({ texts: (en: object) => Object.assign(() => en, { now: () => en }) }));

const folder = new URL('./testdata/', import.meta.url);
const drawn = (name: string) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Timeline;

describe('a preview', () => {
  it('shows each action of the shipped acts from the start of its bar on, as fleetd draws it', () => {
    const files = readdirSync(folder);
    expect(files.length).toBeGreaterThan(2);
    let checked = 0;
    for (const file of files) {
      const cues = cuesOf(drawn(file), 'en');
      cues.forEach((c, n) => {
        // Another one of its kind may take its place in the same moment.
        if (cues.slice(n + 1).some((o) => o.action.type === c.action.type && o.start <= c.start + 1)) return;
        const [before, after] = [performedAt(cues, c.start - 1), performedAt(cues, c.start + 1)];
        checked++;
        switch (c.action.type) {
          case 'face':
            return expect(after.face).toBe(c.action.face);
          case 'say':
            expect(before.says).not.toBe(c.words);
            return expect(after.says).toBe(c.words);
          case 'sound':
            return expect(after.sound).toBe(c.action.sound);
          case 'led':
            return expect(after.led?.pattern).toBe(c.action.pattern ?? 'solid');
          case 'goto':
            return expect(after.drive?.forward).toBe(1);
          default:
            checked--;
        }
      });
    }
    expect(checked).toBeGreaterThan(20);
  });

  it('is that of the welcome, in the language of its author', () => {
    const cues = cuesOf(drawn('welcome.json'), 'de');
    expect(cues.map((c) => c.start)).toEqual([...cues.map((c) => c.start)].sort((a, b) => a - b));
    const at = (ms: number) => performedAt(cues, ms);
    expect(at(2000).says).toMatch(/^Guten Morgen/);
    expect(at(2000).led).toEqual({ color: '#ffb060', pattern: 'breathe', periodMS: 3000 });
    expect(at(2000).head).toMatchObject({ yawRad: 0.4, pitchRad: -0.1 });
    expect(at(750).head?.yawRad).toBeCloseTo(0.2, 2); // on its way
    const { face, led, says, screen } = at(7500);
    expect([face, led, says, screen]).toEqual(['smile', undefined, undefined, undefined]);
    expect(at(9499).head?.yawRad).toBeCloseTo(0, 2);
  });

  it('lets a face that ends give way to the one before it', () => {
    const cues = [
      cueOf(0, 0, { type: 'face', face: 'smile' }, 'en'),
      cueOf(1000, 2000, { type: 'face', end_ms: 2000, face: 'sad' }, 'en'),
    ];
    expect([500, 1500, 2000].map((ms) => performedAt(cues, ms).face)).toEqual(['smile', 'sad', 'smile']);
  });

  it('begins each sound once, and what already runs where it is started', () => {
    const cues = [0, 100, 100, 250].map((start) => cueOf(start, start + 100, { type: 'sound' }, 'en'));
    const steps = [0, 16, 100, 130, 260];
    const heard = steps.slice(1).flatMap((to, n) => begunBetween(cues, steps[n]!, to));
    expect([...runningAt(cues, 0), ...heard]).toEqual(cues);
  });
});
