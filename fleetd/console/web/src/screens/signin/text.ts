import { texts } from '../../text/language';

export const useSignInTexts = texts(
  {
    title: 'Sign in',
    user: 'User',
    password: 'Password',
    submit: 'Sign in',
    stop: 'To stop a robot at once, use the stop on the robot. A stop in this console needs a sign-in.',
    dev: 'Development mode: whoever is not signed in has every right on this machine.',
    goOn: 'Go on without signing in',
    first: 'At its first start fleetd printed the password of the user admin. An administrator adds other users.',
  },
  {
    title: 'Anmelden',
    user: 'Benutzer',
    password: 'Passwort',
    submit: 'Anmelden',
    stop: 'Um einen Roboter sofort anzuhalten, drücken Sie den Stopp am Roboter. Ein Stopp in dieser Konsole verlangt eine Anmeldung.',
    dev: 'Entwicklungsmodus: Wer nicht angemeldet ist, darf auf diesem Rechner alles.',
    goOn: 'Ohne Anmeldung weiter',
    first:
      'Beim ersten Start hat fleetd das Passwort des Benutzers admin ausgegeben. Weitere Benutzer legt ein Administrator an.',
  },
);
