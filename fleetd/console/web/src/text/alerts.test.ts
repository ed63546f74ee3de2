import { expect, test, vi } from 'vitest';

import { alertSays, ownBeside, useAlertWords } from './alerts';

const page = vi.hoisted(() => ({ language: 0 }));
vi.mock('./language', () => ({
  texts: (...all: object[]) => Object.assign(() => all[page.language], { now: () => all[page.language] }),
}));

const alert = { type: 'story_failing', source: 'auto', detail: 'act hello: no sound bell', hint: 'add the sound' };

test('the own sentence of a robot stands beside the words of a page that is not English, and only there', () => {
  const own = 'act hello: no sound bell; add the sound';
  expect(alertSays(useAlertWords(), alert)).toBe(own);
  expect(ownBeside(useAlertWords(), alert)).toBe('');
  for (page.language of [1, 2]) {
    expect(alertSays(useAlertWords(), alert)).not.toContain('bell');
    expect(ownBeside(useAlertWords(), alert)).toBe(own);
    expect(ownBeside(useAlertWords(), { ...alert, type: 'new_one' })).toBe('');
  }
});

test.each([
  [{ type: 'battery_low', source: 'power', params: { percent: 20 } }, 'Die Batterie hat weniger als 20 %.'],
  [
    { type: 'story_failing', source: 'story', params: { story: 'tour', act: 'hello', reason: 'timeout' } },
    'Jeder Akt der Geschichte tour schlägt fehl. Der letzte Fehler ist von hello: es dauerte zu lange.',
  ],
  [
    { type: 'stop_button_silent', source: 'hall' },
    'Der Stoppknopf hall sendet kein Lebenszeichen; er kann die Roboter vielleicht nicht stoppen.',
  ],
  [
    { type: 'backup_old', source: 'backup', params: { days: 1 } },
    'Es gab noch keine Sicherung; jeden Tag wird eine erwartet.',
  ],
  [
    { type: 'backup_old', source: 'backup', params: { days: 7 } },
    'Es gab noch keine Sicherung; alle 7 Tage wird eine erwartet.',
  ],
  [{ type: 'safeguard', source: 'pushed' }, 'Eine Schutzfunktion hält ihn fest: jemand schiebt ihn.'],
  [
    { type: 'not_in_database', source: 'story' },
    'Der Roboter hat etwas, das in der Datenbank von fleetd fehlt: seine Geschichte.',
  ],
])('the values of an alert are in the sentence of the page: %j', (alert, says) => {
  page.language = 1;
  const robot = { ...alert, detail: 'in English' };
  expect(alertSays(useAlertWords(), robot)).toBe(says);
  expect(ownBeside(useAlertWords(), robot)).toBe('in English');
});

test('an alert of an earlier robot, without values, says what its type means', () => {
  page.language = 1;
  const old = { type: 'battery_low', source: 'power', detail: 'the battery is below 20 %' };
  expect(alertSays(useAlertWords(), old)).toBe(useAlertWords().battery_low.means);
});
