import { expect, test, vi } from 'vitest';

import { aboutAnswer } from './answers';
import { becauseText } from './because';
import { ownPresence, presenceText } from './presence';
import { ownReason, reasonText, useReasonTexts } from './reasons';
import { sourceText } from './source';

const page = vi.hoisted(() => ({ language: 1 }));
vi.mock('./language', () => ({
  texts: (...all: object[]) => Object.assign(() => all[page.language], { now: () => all[page.language] }),
  useLanguage: { getState: () => ({ language: 'de' }) },
}));

test('an answer names who has control and what is in the way, and its own sentence stands beside it', () => {
  const answer = { lease: { holder: 'fleetd', by: 'nina', scope: 'manual', until_ms: 1 } };
  const words = useReasonTexts();
  expect(reasonText(words, 'not_in_control', 'nina has control', aboutAnswer(answer))).toBe(
    'der Absender hat nicht die Kontrolle über den Roboter (nina)',
  );
  expect(ownReason(words, 'not_in_control', 'nina has control')).toBe('nina has control');
  expect(ownReason(words, undefined, 'something new')).toBe('');
  expect(
    aboutAnswer({
      refs: [
        { kind: 'unit', id: 'head' },
        { kind: 'latch', id: 'stop-1-a' },
      ],
    }),
  ).toBe('Einheit head');
});

test('why a command is in its state is in the language of the page; what is no sentence of fleetd stays', () => {
  expect(becauseText('the robot accepted it')).toBe('der Roboter hat ihn angenommen');
  expect(
    becauseText(
      'not sent: fleetd is not connected to the broker; it is sent if the connection is back in time (refused)',
    ),
  ).toMatch(/^nicht gesendet: .* \(refused\)$/);
  expect(becauseText('unit head: jammed')).toBe('unit head: jammed');
});

test('why a robot is not online is said by its code; an earlier fleetd names none', () => {
  const lost = { status: 'lost', cause: 'disconnected', why: 'its connection was lost' } as const;
  expect(presenceText(lost)).toBe('seine Verbindung ging verloren');
  expect(ownPresence(lost)).toBe('its connection was lost');
  expect(presenceText({ status: 'lost', why: 'its connection was lost' })).toBe('Verbindung verloren');
  page.language = 0;
  expect(presenceText(lost)).toBe('its connection was lost');
  expect(ownPresence(lost)).toBe('');
  page.language = 1;
});

test('what stopped a robot is named in words, and a person by their name', () => {
  expect(sourceText('unit head')).toBe('Einheit head');
  expect(sourceText('mode ato')).toBe('Modus Automatik');
  expect(sourceText('core')).toBe('der Roboter selbst');
  expect(sourceText('nina')).toBe('nina');
  for (const other of ['unit', 'constructor x']) expect(sourceText(other)).toBe(other);
});
