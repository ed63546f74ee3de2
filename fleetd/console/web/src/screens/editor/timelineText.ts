import { texts } from '../../text/language';

export const useTimelineTexts = texts(
  {
    timeline: 'Timeline',
    about: (s: string) => `about ${s} s`,
    basis:
      'Estimated: speech by its longest text, the rest with a usual time for each motion and each drive. A short drive takes less.',
    none: 'The timeline appears when nothing is missing and no error is left.',
    empty: 'Nothing lasts yet.',
    play: 'Play the cursor',
    pause: 'Stop the cursor',
    bar: (what: string, from: string, to: string) => `${what}: ${from} s to ${to} s`,
    estimated: 'estimated',
    conflict: 'conflict',
    waits: (s: string) => `waits ${s} s for its unit`,
    inLanguage: (language: string) => `in ${language}`,
    language: 'Language of the texts',
    others: (wanted: string, shown: string) => `Texts without ${wanted} are shown in ${shown}.`,
  },
  {
    timeline: 'Zeitachse',
    about: (s) => `etwa ${s} s`,
    basis:
      'Geschätzt: Sprache nach dem längsten Text, sonst mit einer üblichen Zeit für jede Bewegung und jede Fahrt. Eine kurze Fahrt dauert weniger.',
    none: 'Die Zeitachse erscheint, wenn nichts mehr fehlt und kein Fehler bleibt.',
    empty: 'Noch nichts dauert an.',
    play: 'Zeiger laufen lassen',
    pause: 'Zeiger anhalten',
    bar: (what, from, to) => `${what}: ${from} s bis ${to} s`,
    estimated: 'geschätzt',
    conflict: 'Konflikt',
    waits: (s) => `wartet ${s} s auf seine Einheit`,
    inLanguage: (language) => `auf ${language}`,
    language: 'Sprache der Texte',
    others: (wanted, shown) => `Texte, die es nicht auf ${wanted} gibt, stehen hier auf ${shown}.`,
  },
);
