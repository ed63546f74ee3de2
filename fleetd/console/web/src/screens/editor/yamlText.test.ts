import { readdirSync, readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

import type { Fields } from './model';
import { hasComments, rewrite } from './yamlText';

const file = `# Greets each visitor.
act: greet
name: {en: Greet, de: "Grüßen"} # as the sign says
actions:
  # first the face
  - {type: face, start_ms: 0, face: smile}
  - type: say # slowly
    start_ms: 500
    timeout_ms: 8000 # long enough for German
    text:
      en: "Hello" # not Hi

  # and at the end
  - {type: wait, start_ms: 2000, end_ms: 3000}
`;
const read = () => parse(file) as { actions: [Fields, Fields, Fields] } & Fields;

describe('a draft written into its file', () => {
  it('is the same file if nothing changed', () => {
    expect(rewrite(file, read())).toBe(file);
    expect(hasComments(file)).toBe(true);
    expect(hasComments('act: x\nname: {en: "a # b"}\n')).toBe(false);
  });

  it('keeps every comment when a value changes', () => {
    const to = read();
    to.actions[1].timeout_ms = 9000;
    (to.actions[1].text as Fields).en = 'Good day';
    expect(rewrite(file, to)).toBe(file.replace('8000 #', '9000 #').replace('"Hello"', 'Good day'));
  });

  it('moves the comment of an action with it, and drops it with the action', () => {
    const to = read();
    const [face, say, wait] = to.actions;
    const moved = rewrite(file, { ...to, actions: [{ ...wait, start_ms: 0, end_ms: 1000 }, face, say] })!;
    expect(moved).toMatch(/# and at the end\n {2}- \{type: wait, start_ms: 0, end_ms: 1000\}/);
    expect(moved).toMatch(/type: say # slowly/);
    expect(moved.match(/#/g)).toHaveLength(7);
    const less = rewrite(file, { ...to, actions: [face, wait] })!;
    expect(less).not.toMatch(/slowly|long enough|not Hi/);
    expect(less).toMatch(/# Greets each visitor\.\n/);
  });

  it('writes what is new as it writes what was there, with quotes where a text could be read as something else', () => {
    const to = read();
    to.actions.push({ type: 'led', start_ms: 0, end_ms: 900, colour: '#20c0ff' });
    const out = rewrite(file, { ...to, labels: { site: 'no', floor: '012', day: '2026-01-02' } })!;
    expect(out).toContain('  - {type: led, start_ms: 0, end_ms: 900, colour: "#20c0ff"}\n');
    expect(out).toContain('labels: {site: "no", floor: "012", day: "2026-01-02"}\n');
  });

  it('is what was wanted for every shipped act, whatever is taken out of it', () => {
    const folder = new URL('../../../../../../deploy/library/acts/', import.meta.url);
    const files = readdirSync(folder).map((f) => readFileSync(new URL(f, folder), 'utf8'));
    expect(files.length).toBeGreaterThan(20);
    for (const text of files) {
      const all = parse(text) as { actions: Fields[] };
      [0, all.actions.length - 1].forEach((n) => {
        const a = all.actions[n]!;
        const less = { ...all, actions: all.actions.filter((_, k) => k !== n) };
        expect(parse(rewrite(text, less)!)).toEqual(less);
        const later = { ...all, actions: all.actions.map((b) => (a === b ? { ...b, start_ms: 12345 } : b)) };
        const out = rewrite(text, later)!;
        expect(parse(out)).toEqual(later);
        expect(out.match(/^#.*$/gm)).toEqual(text.match(/^#.*$/gm));
      });
    }
  });

  it('is not written into what is no YAML', () => {
    expect(rewrite('act: [', { act: 'x' })).toBeUndefined();
  });
});
