import type { Right } from '../api/me';
import { rolesWith } from '../contract';
import { texts } from './language';

const list = (words: readonly string[], and: string): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${and} ${words.at(-1)}`;

export const useRightTexts = texts(
  {
    lacks: (what: string, right: Right) => {
      const roles: readonly string[] = rolesWith[right];
      return `You do not have the right to ${what}. The ${roles.length > 1 ? 'roles' : 'role'} ${list(roles, 'and')} ${roles.length > 1 ? 'have' : 'has'} it.`;
    },
  },
  {
    lacks: (what: string, right: Right) => {
      const roles: readonly string[] = rolesWith[right];
      return `Ihnen fehlt das Recht, ${what}. ${roles.length > 1 ? 'Die Rollen' : 'Die Rolle'} ${list(roles, 'und')} ${roles.length > 1 ? 'haben' : 'hat'} es.`;
    },
  },
  {
    lacks: (what: string, right: Right) => {
      const roles: readonly string[] = rolesWith[right];
      return `Vous n’avez pas le droit ${/^[aeiouéèêh]/i.test(what) ? 'd’' : 'de '}${what}. ${roles.length > 1 ? 'Les rôles' : 'Le rôle'} ${list(roles, 'et')} ${roles.length > 1 ? 'l’ont' : 'l’a'}.`;
    },
  },
);
