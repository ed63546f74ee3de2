import { texts } from '../../text/language';

export const useAccountTexts = texts(
  {
    title: 'My account',
    about: 'Who you are here, how and where you are signed in, and the tokens with which programs act as you.',
    user: 'User',
    name: 'Name to show',
    roles: 'Roles',
    sites: 'Sites',
    allSites: 'all',
    noRoles: 'none: an administrator can give you one',
    signsIn: 'You sign in with',
    withPassword: 'a password',
    changePassword: 'Change password',
    noPassword: 'You have no password here, so there is none to change.',
    sessions: 'Where you are signed in',
    sessionsHelp:
      'Each sign-in in a browser, until you sign out there or 12 hours are over. End those that you do not know, and change your password then.',
    tokens: 'My tokens',
    tokensHelp:
      'A token lets a program or the command line act as you, with your roles or fewer, until it ends. Make one for each program and end those that you do not know. fleetd login makes one by itself.',
    dev: 'Nobody is signed in: in development mode everybody on this machine may do everything. Only a user has tokens and a password.',
    signIn: 'Sign in',
    allowTitle: 'Sign in the command line?',
    asks: 'fleetd login asks to act as you on the machine',
    compare: 'The terminal shows the same letters:',
    onlyIf:
      'Allow it only if you have just typed fleetd login yourself and the letters are the same. Somebody who sent you this address would act in your name.',
    gets: (user: string, roles: string) =>
      `It can do what ${user} may do (${roles}) for 30 days, or until you end its token at My account.`,
    allow: 'Allow',
    deny: 'Do not allow',
    refused: 'This was not allowed',
    done: 'The command line is signed in. You can close this page.',
    failed: 'The command line is not signed in. The terminal says why.',
    wrong: 'This address is not complete. Run fleetd login --browser again, and open the whole address.',
  },
  {
    title: 'Mein Konto',
    about: 'Wer Sie hier sind, wie und wo Sie angemeldet sind, und die Token, mit denen Programme als Sie handeln.',
    user: 'Benutzer',
    name: 'Angezeigter Name',
    roles: 'Rollen',
    sites: 'Standorte',
    allSites: 'alle',
    noRoles: 'keine: ein Administrator kann Ihnen eine geben',
    signsIn: 'Sie melden sich an mit',
    withPassword: 'einem Passwort',
    changePassword: 'Passwort ändern',
    noPassword: 'Sie haben hier kein Passwort, also gibt es keines zu ändern.',
    sessions: 'Wo Sie angemeldet sind',
    sessionsHelp:
      'Jede Anmeldung in einem Browser, bis Sie sich dort abmelden oder 12 Stunden vorbei sind. Beenden Sie die, die Sie nicht kennen, und ändern Sie dann Ihr Passwort.',
    tokens: 'Meine Token',
    tokensHelp:
      'Mit einem Token handelt ein Programm oder die Kommandozeile als Sie, mit Ihren Rollen oder weniger, bis es endet. Machen Sie für jedes Programm eines, und beenden Sie die, die Sie nicht kennen. fleetd login macht selbst eines.',
    dev: 'Niemand ist angemeldet: im Entwicklungsmodus darf an diesem Rechner jeder alles. Nur ein Benutzer hat Token und ein Passwort.',
    signIn: 'Anmelden',
    allowTitle: 'Die Kommandozeile anmelden?',
    asks: 'fleetd login möchte als Sie handeln, auf dem Rechner',
    compare: 'Das Terminal zeigt dieselben Buchstaben:',
    onlyIf:
      'Erlauben Sie es nur, wenn Sie gerade selbst fleetd login eingegeben haben und die Buchstaben gleich sind. Wer Ihnen diese Adresse geschickt hat, würde in Ihrem Namen handeln.',
    gets: (user, roles) =>
      `Sie darf, was ${user} darf (${roles}), 30 Tage lang oder bis Sie ihr Token unter Mein Konto beenden.`,
    allow: 'Erlauben',
    deny: 'Nicht erlauben',
    refused: 'Das wurde nicht erlaubt',
    done: 'Die Kommandozeile ist angemeldet. Sie können diese Seite schließen.',
    failed: 'Die Kommandozeile ist nicht angemeldet. Das Terminal sagt, warum.',
    wrong:
      'Diese Adresse ist nicht vollständig. Starten Sie fleetd login --browser neu, und öffnen Sie die ganze Adresse.',
  },
);
