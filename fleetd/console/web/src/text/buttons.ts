import { texts } from './language';
import { plainText } from './plain';
import { inWords, useTermWords } from './terms';
import { useVerbWords } from './verbs';

/** The buttons that send the verbs which texts of robots name. */
const useButtons = texts(
  {
    quoted: (button: string) => `“${button}”`,
    of: {
      'auto/continue': 'Continue',
      'auto/start': 'Start',
      'control/acquire': 'Take control',
      'control/release': 'Give back',
      'interrupt/cancel': 'End it',
      'interrupt/request': 'Raise',
      'life/stop-focus': 'End the activity',
      'safety/enable': 'Let it move',
      'safety/reset': 'Reset',
      'sys/ack-fault': 'It is repaired',
    } as Record<string, string>,
  },
  {
    quoted: (button: string) => `„${button}“`,
    of: {
      'auto/continue': 'Weiter',
      'auto/start': 'Start',
      'control/acquire': 'Kontrolle nehmen',
      'control/release': 'Zurückgeben',
      'interrupt/cancel': 'Beenden',
      'interrupt/request': 'Unterbrechen',
      'life/stop-focus': 'Aktivität beenden',
      'safety/enable': 'Bewegung freigeben',
      'safety/reset': 'Zurücksetzen',
      'sys/ack-fault': 'Es ist behoben',
    },
  },
  {
    quoted: (button: string) => `« ${button} »`,
    of: {
      'auto/continue': 'Continuer',
      'auto/start': 'Démarrer',
      'control/acquire': 'Prendre le contrôle',
      'control/release': 'Rendre',
      'interrupt/cancel': 'Terminer',
      'interrupt/request': 'Interrompre',
      'life/stop-focus': 'Terminer l’activité',
      'safety/enable': 'Autoriser le mouvement',
      'safety/reset': 'Réinitialiser',
      'sys/ack-fault': 'C’est réparé',
    },
  },
);

const verb = /\b([a-z]+\/[a-z-]+)\b(?: (str|mnl|ato)\b)?(?: with token [^\s;,]+|, or by its name [^\s;,]+)?/g;
const latches = /\brelease the latched stops? [^\s;,]+(?:, stop-[^\s;,]+)*/g;

/** A text of a robot with the console's buttons in place of the verbs that they send, and without words of the contract. */
export function inButtons(text: string): string {
  const t = useButtons.now();
  const words: Record<string, string> = useVerbWords.now();
  const modes: Record<string, string> = useTermWords.now().ModeID;
  const named = text.replace(latches, 'release the stop').replace(verb, (found, id: string, mode?: string) => {
    if (id === 'mode/set' && mode) return t.quoted(inWords(modes, mode));
    const button = t.of[id] ?? words[id];
    return button ? t.quoted(button) + (mode ? ` ${mode}` : '') : found;
  });
  return plainText(named);
}
