import { texts } from './language';

/** What pauses a story, by the kind with which the name of its pause begins. */
export const usePauseWords = texts(
  {
    safety: 'a stop',
    safeguard: 'a safeguard',
    link: 'a lost link',
    operator: 'a person',
    interrupt: 'an interrupt',
    activity: 'an activity',
  },
  {
    safety: 'ein Stopp',
    safeguard: 'eine Schutzfunktion',
    link: 'eine verlorene Verbindung',
    operator: 'eine Person',
    interrupt: 'eine Unterbrechung',
    activity: 'eine Aktivität',
  },
  {
    safety: 'un arrêt',
    safeguard: 'une protection',
    link: 'une liaison perdue',
    operator: 'une personne',
    interrupt: 'une interruption',
    activity: 'une activité',
  },
);
