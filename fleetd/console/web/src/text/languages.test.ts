import { readdirSync, readFileSync } from 'node:fs';

import ts from 'typescript';
import { expect, test, vi } from 'vitest';

import { inFrench, typeset } from './french';

const src = new URL('..', import.meta.url);
const languages = ['en', 'de', 'fr'] as const;

/** Texts by where they are, such as "shell/text.ts nav.robots". */
type Texts = Map<string, string>;

/** Words that are alike in two languages, or that belong to a program or a unit. */
const alike = new Set(
  `
  Action Actions Administration Alertmanager Audit Axes Broker Browser CSV Cause Condition Date Deutsch Dev Digest E-mail
  English Français Exceptions Export Filter Gamepad Image Instance Label Labels Licence Live MQTT Menu Mode Name Note Notifications
  Pause Pauses Place Problem Revision Robot Robots Rollouts Routes STARTTLS Site Sites Software Start Test Text Token Type
  URL Version Volume Zoom console cyan fleetd indigo lab lobby mail min mode neutral note offline online orange pause robot
  site violet
  `
    .trim()
    .split(/\s+/),
);

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
  (f) => /\.tsx?$/.test(f) && !/\.test\./.test(f),
);

/** What stands in the three languages of each call of texts(), by key. */
function declared(): Record<(typeof languages)[number], Texts> {
  const found = { en: new Map(), de: new Map(), fr: new Map() } as Record<(typeof languages)[number], Texts>;
  for (const file of files) {
    const code = readFileSync(new URL(file, src), 'utf8');
    if (!code.includes('texts')) continue;
    const source = ts.createSourceFile(file, code, ts.ScriptTarget.Latest, true);
    const valueOf = (n: ts.Node): ts.Node => {
      if (ts.isAsExpression(n) || ts.isSatisfiesExpression(n) || ts.isParenthesizedExpression(n))
        return valueOf(n.expression);
      if (!ts.isIdentifier(n)) return n;
      const named = source.statements
        .filter(ts.isVariableStatement)
        .flatMap((s) => [...s.declarationList.declarations])
        .find((d) => d.name.getText() === n.text);
      return named?.initializer ? valueOf(named.initializer) : n;
    };
    const collect = (into: Texts, path: string, n: ts.Node): void => {
      const value = valueOf(n);
      if (ts.isObjectLiteralExpression(value))
        for (const p of value.properties) {
          if (ts.isShorthandPropertyAssignment(p)) collect(into, `${path}.${p.name.text}`, p.name);
          if (!ts.isPropertyAssignment(p)) continue;
          const name = ts.isIdentifier(p.name) || ts.isStringLiteralLike(p.name) ? p.name.text : p.name.getText();
          collect(into, `${path}.${name}`, p.initializer);
        }
      else into.set(path, ts.isStringLiteralLike(value) ? value.text : value.getText().replace(/\s+/g, ' '));
    };
    let call = 0;
    const find = (n: ts.Node): void => {
      if (ts.isCallExpression(n) && ts.isIdentifier(n.expression) && n.expression.text === 'texts') {
        if (n.arguments.length !== languages.length) return;
        const at = `${file} ${call++}`;
        languages.forEach((l, i) => collect(found[l], at, n.arguments[i]!));
      } else ts.forEachChild(n, find);
    };
    find(source);
  }
  return found;
}

const all = declared();
/** The English of these is a table in Go, or made of one: it has no keys here. */
const madeOfTables = /^text\/(alerts|audited|because|events|reasons|settings)\.ts 0/;
const own = (t: Texts): string[] => [...t.keys()].filter((k) => !madeOfTables.test(k)).sort();

test('every text is there in each language', () => {
  expect(own(all.en).length).toBeGreaterThan(1800);
  expect(own(all.de)).toEqual(own(all.en));
  expect(own(all.fr)).toEqual(own(all.en));
  const tables = (t: Texts): string[] => [...t.keys()].filter((k) => madeOfTables.test(k)).sort();
  expect(tables(all.fr)).toEqual(tables(all.de));
});

test.each(['de', 'fr'] as const)('no English is left in %s', (l) => {
  const left = [...all[l]].filter(([key, text]) => {
    if (text === '' || text !== all.en.get(key) || alike.has(text)) return false;
    // A text of names, numbers and units only, and a pattern of an example, has no language.
    const words = text
      .replace(/^\([^)]*\) => /, '')
      .replace(/\$\{[^}]*\}/g, '')
      .match(/[A-Za-zäöüéèàœ]{3,}/g);
    return !!words?.some((w) => !alike.has(w));
  });
  expect(left).toEqual([]);
});

test('French marks have a space before them that does not break', () => {
  expect(typeset('Arrêté : « oui » ; 50 % ?')).toBe('Arrêté\u202f: «\u202foui\u202f»\u202f; 50\u202f%\u202f?');
  expect(typeset('à 12:30, http://a')).toBe('à 12:30, http://a');
  const t = inFrench({ of: (n: number) => `reste : ${n}`, keys: [['a', 'b !']] });
  expect([t.of(1), t.keys]).toEqual(['reste\u202f: 1', [['a', 'b\u202f!']]]);
});

test('a tag of the browser chooses the language, and English stands for what the console does not speak', async () => {
  vi.stubGlobal('localStorage', { getItem: () => null });
  vi.stubGlobal('navigator', { language: 'fr-CH' });
  vi.stubGlobal('document', { documentElement: {} });
  const { languageOf, useLanguage } = await import('./language');
  expect(useLanguage.getState().language).toBe('fr');
  expect(['fr', 'fr-CA', 'de-AT', 'en-GB', 'frr', 'it', ''].map(languageOf)).toEqual([
    'fr',
    'fr',
    'de',
    'en',
    'en',
    'en',
    'en',
  ]);
});
