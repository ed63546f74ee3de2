import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

import { inFrench, inGerman } from './why';

test('every reason in the state tables of rollouts has a German and a French sentence', () => {
  const source = readFileSync('../../rollout/state.go', 'utf8');
  const reasons = [...source.matchAll(/Why:\s+"([^"]+)"/g)].map((m) => m[1]!);
  expect(reasons.length).toBeGreaterThan(40);
  expect(reasons.filter((why) => inGerman(why) === why || inFrench(why) === why)).toEqual([]);
});

test.each([
  [
    'a person has to decide: wave "canary" failed: 1 of its 2 decided robots failed, and at most 0 % may: timeout_active (1)',
    'jemand muss entscheiden: die Welle „canary“ ist gescheitert: 1 von 2 entschiedenen Robotern ist gescheitert, höchstens 0 % dürfen es: timeout_active (1)',
  ],
  [
    'it waits for 4 robots: 1 offered the content, 3 not reachable; and for the soak of wave "half"',
    'es wartet auf 4 Roboter: 1 bekommt den Inhalt, 3 nicht erreichbar; und auf die Beobachtungszeit der Welle „half“',
  ],
  [
    'it did not activate the content within 2m0s online: every act of the story summer fails',
    'er hat den Inhalt nicht aktiviert (nach 2m0s online): every act of the story summer fails',
  ],
  ['it did not activate the content within 2m0s online', 'er hat den Inhalt nicht aktiviert (nach 2m0s online)'],
  ['summer season', 'summer season'],
])('%s', (why, de) => expect(inGerman(why)).toBe(de));

test.each([
  [
    'a person has to decide: wave "canary" failed: 1 of its 2 decided robots failed, and at most 0 % may: timeout_active (1)',
    'quelqu’un doit décider : la vague « canary » a échoué : 1 de ses 2 robots décidés a échoué, et 0 % au plus le peuvent : timeout_active (1)',
  ],
  [
    'it did not activate the content within 2m0s online',
    'il n’a pas mis le contenu en service (après 2m0s de connexion)',
  ],
  [
    'it waits for 1 robot: 1 not reachable; and for the soak of wave "half"',
    'il attend 1 robot : 1 injoignable ; et la fin de l’observation de la vague « half »',
  ],
  [
    'it waits for 3 robots: 1 offered the content, 2 not reachable',
    'il attend 3 robots : 1 qui reçoit le contenu, 2 injoignables',
  ],
  ['summer season : a', 'summer season : a'],
])('%s in French', (why, fr) => expect(inFrench(why).replaceAll('\u202f', ' ')).toBe(fr));
