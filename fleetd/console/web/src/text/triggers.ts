import { texts } from './language';
import { inWords } from './terms';

/** Who or what asks for interrupts. */
const useWho = texts(
  { ai: 'AI', touch: 'touch', screen: 'screen', power: 'battery', operator: 'person' },
  { ai: 'KI', touch: 'Berührung', screen: 'Bildschirm', power: 'Batterie', operator: 'Person' },
  { ai: 'IA', touch: 'contact', screen: 'écran', power: 'batterie', operator: 'personne' },
);

/** An interrupter in words; one that the robot adds is called by its id. */
export const whoText = (interrupter?: string): string => inWords(useWho.now(), interrupter);
