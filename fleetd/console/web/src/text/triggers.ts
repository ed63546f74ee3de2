import { texts } from './language';
import { inWords } from './terms';

/** Who or what asks for interrupts. */
const useWho = texts(
  { ai: 'AI', touch: 'touch', screen: 'screen', power: 'battery', operator: 'person' },
  { ai: 'KI', touch: 'Berührung', screen: 'Bildschirm', power: 'Batterie', operator: 'Person' },
  { ai: 'IA', touch: 'contact', screen: 'écran', power: 'batterie', operator: 'personne' },
);

/** For whom or for what an interrupt runs: words that stand in a sentence. */
const useForWhom = texts(
  {
    ai: 'for the AI',
    touch: 'for a touch',
    screen: 'for the screen',
    power: 'for the battery',
    operator: 'for a person',
  },
  {
    ai: 'für die KI',
    touch: 'wegen einer Berührung',
    screen: 'für den Bildschirm',
    power: 'für die Batterie',
    operator: 'für eine Person',
  },
  {
    ai: 'pour l’IA',
    touch: 'après un contact',
    screen: 'pour l’écran',
    power: 'pour la batterie',
    operator: 'pour une personne',
  },
);

/** For which interrupter an interrupt runs, in words; one that the robot adds is in brackets by its id. */
export function forWhomText(interrupter: string): string {
  const words: Record<string, string> = useForWhom.now();
  return Object.hasOwn(words, interrupter) ? words[interrupter]! : `(${interrupter})`;
}

/** An interrupter in words; one that the robot adds is called by its id. */
export const whoText = (interrupter?: string): string => inWords(useWho.now(), interrupter);
