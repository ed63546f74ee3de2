import { readdirSync, readFileSync } from 'node:fs';

import ts from 'typescript';
import { expect, test, vi } from 'vitest';

import { alerts, events, reasons } from '../contract';
import { inButtons } from './buttons';
import { plainText } from './plain';
import { ownTooltip, reasonText } from './reasons';

let language: 'en' | 'de' | 'fr' = 'en';
vi.mock('./language', () => ({
  texts: (en: object, de: object, fr: object) => {
    const chosen = () => ({ en, de, fr })[language];
    return Object.assign(chosen, { now: chosen });
  },
}));

/** Words of the contract: they are for tooltips, the tab Raw and the documentation. */
const contract =
  /\b(ato|mnl|latched|latches|unlatch\w*|interrupters?|handlers?|DISABLED|ENABLED|E_STOP|lanes?|MS_[A-Z]+)\b|\((idle|requested|reported|str|stopped|paused|up)\)|verriegelt/;

const src = new URL('..', import.meta.url);
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
  (f) => /\.tsx?$/.test(f) && !/\.test\./.test(f),
);

/** The texts that a file declares for people: what stands in the calls of texts(). */
function textsOf(file: string): string[] {
  const code = readFileSync(new URL(file, src), 'utf8');
  if (!code.includes('texts')) return [];
  const source = ts.createSourceFile(file, code, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const collect = (n: ts.Node): void => {
    if (ts.isStringLiteralLike(n) && !ts.isPropertyName(n.parent)) found.push(n.text);
    else if (ts.isTemplateHead(n) || ts.isTemplateMiddleOrTemplateTail(n)) found.push(n.text);
    // A name of a property is no text, nor is what is compared.
    ts.forEachChild(n, (c) => {
      if (ts.isPropertyAssignment(n) && c === n.name) return;
      if (ts.isBinaryExpression(n) && n.operatorToken.kind !== ts.SyntaxKind.PlusToken) return;
      collect(c);
    });
  };
  const find = (n: ts.Node): void => {
    if (ts.isCallExpression(n) && ts.isIdentifier(n.expression) && n.expression.text === 'texts')
      n.arguments.forEach(collect);
    else ts.forEachChild(n, find);
  };
  find(source);
  return found;
}

test('no text of a screen has a word of the contract', () => {
  const all = files.flatMap((f) => textsOf(f).map((text) => `${f}: ${text}`));
  expect(all.length).toBeGreaterThan(3000);
  expect(all.filter((t) => contract.test(t))).toEqual([]);
});

test('no sentence of the tables in Go has one, as the console shows it', () => {
  for (const table of [alerts, events, reasons])
    for (const [code, text] of Object.entries(table))
      expect([code, inButtons(text)]).toEqual([code, expect.not.stringMatching(contract)]);
});

test('an English sentence of a robot says manual for mnl, and nothing is changed inside of words', () => {
  expect(plainText('mnl already is in charge')).toBe('manual already is in charge');
  expect(plainText('already ENABLED; a latched stop, two latched stops')).toBe(
    'already free to move; a stop, two stops',
  );
  expect(plainText('by-the-door is at x 4.00 m, heading -1.57 rad')).toBe('by-the-door is at x 4.00 m, heading -90°');
  expect(plainText('the robot is in E_STOP because of unit head')).toBe(
    'the robot is stopped until it is reset because of unit head',
  );
  expect(plainText('the tomato of a strong hand')).toBe('the tomato of a strong hand');
});

test('a reason is in the language of the page; what a robot says itself is its tooltip, or the text if there is no code', () => {
  const english = { not_calibrated: 'the robot is not calibrated' };
  const german = { not_calibrated: 'der Roboter ist nicht kalibriert' };
  expect(reasonText(english, 'not_calibrated')).toBe('the robot is not calibrated');
  expect(reasonText(english, 'not_calibrated', 'calibrate the head first')).toBe('calibrate the head first');
  expect(ownTooltip(english, 'not_calibrated', 'calibrate the head first')).toBeUndefined();
  expect(reasonText(english, undefined, 'mnl ended')).toBe('manual ended');
  expect(reasonText(english, 'brand_new')).toBe('brand new');
  language = 'de';
  expect(reasonText(german, 'not_calibrated', 'calibrate the head first')).toBe('der Roboter ist nicht kalibriert');
  expect(ownTooltip(german, 'not_calibrated', 'calibrate the head first')).toBe(
    'Der Roboter sagt: „calibrate the head first“',
  );
  expect(ownTooltip(german, 'brand_new', 'something')).toBeUndefined();
  expect(reasonText(german, 'brand_new', 'something')).toBe('something');
  language = 'en';
});
