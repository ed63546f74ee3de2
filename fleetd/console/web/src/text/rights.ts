import type { Right } from '../api/me';
import { texts } from './language';

/** The roles that have a right, as in fleetd's table; a test compares them with docs/roles.md. */
export const rolesWith = {
  stop: ['operator', 'author', 'releaser', 'admin'],
  release_stops: ['operator', 'admin'],
  command: ['operator', 'admin'],
  manual: ['operator', 'admin'],
  records: ['operator', 'admin'],
  assign: ['releaser', 'admin'],
  administer: ['admin'],
} as const satisfies Partial<Record<Right, readonly string[]>>;

export type RightWithRoles = keyof typeof rolesWith;

const list = (words: readonly string[], and: string): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${and} ${words.at(-1)}`;

export const useRightTexts = texts(
  {
    lacks: (what: string, right: RightWithRoles) => {
      const roles: readonly string[] = rolesWith[right];
      return `You do not have the right to ${what}. The ${roles.length > 1 ? 'roles' : 'role'} ${list(roles, 'and')} ${roles.length > 1 ? 'have' : 'has'} it.`;
    },
  },
  {
    lacks: (what: string, right: RightWithRoles) => {
      const roles: readonly string[] = rolesWith[right];
      return `Ihnen fehlt das Recht, ${what}. ${roles.length > 1 ? 'Die Rollen' : 'Die Rolle'} ${list(roles, 'und')} ${roles.length > 1 ? 'haben' : 'hat'} es.`;
    },
  },
);
