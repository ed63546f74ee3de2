import { texts } from '../../text/language';

const english = {
  title: 'Sign in',
  user: 'User',
  password: 'Password',
  submit: 'Sign in',
  with: (provider: string) => `Sign in with ${provider}`,
  or: 'or with a password of fleetd',
  notSignedIn: 'You are not signed in',
  stop: 'To stop a robot at once, use the stop on the robot. A stop in this console needs a sign-in.',
  stopDev: 'To stop a robot at once, use the stop on the robot.',
  dev: 'Development mode: a person who is not signed in has every right on this machine.',
  goOn: 'Go on without signing in',
  first: 'At its first start fleetd printed the password of the user admin. An administrator adds other users.',
  refusals: {
    'no-role':
      'You are known, but none of your groups has a role here. Ask an administrator to put you into a group that has one, then sign in again.',
    'not-allowed': 'You are known, but may not use this console. Ask an administrator to allow it.',
    disabled: 'Your account here is disabled. Ask an administrator to enable it.',
    'name-taken':
      'There is a user with your name already who signs in with a password. Sign in with that password, or ask an administrator to link that user with you; the audit names your subject.',
    roles: 'Your name or your roles cannot be used here. Ask an administrator; the audit says why.',
    'no-name': 'You have no user name or verified e-mail address at your sign-in provider. Ask an administrator.',
    denied: 'The sign-in was cancelled or denied at your sign-in provider. Try again, or sign in with a password.',
    attempt: 'The sign-in took too long, or began in another window. Sign in again.',
    invalid:
      'The answer of your sign-in provider was not valid. Sign in again; if that does not help, tell an administrator, who finds the reason in the audit.',
    unavailable: 'Your sign-in provider does not answer. Try again later, or sign in with a password.',
    database: 'fleetd could not save the sign-in, because its database does not answer. Try again later.',
    'no-provider': 'This console knows passwords only.',
  },
};

export const useSignInTexts = texts(
  english,
  {
    title: 'Anmelden',
    user: 'Benutzer',
    password: 'Passwort',
    submit: 'Anmelden',
    with: (provider) => `Mit ${provider} anmelden`,
    or: 'oder mit einem Passwort von fleetd',
    notSignedIn: 'Sie sind nicht angemeldet',
    stop: 'Um einen Roboter sofort anzuhalten, drücken Sie den Stopp am Roboter. Ein Stopp in dieser Konsole verlangt eine Anmeldung.',
    stopDev: 'Um einen Roboter sofort anzuhalten, drücken Sie den Stopp am Roboter.',
    dev: 'Entwicklungsmodus: Wer nicht angemeldet ist, darf auf diesem Rechner alles.',
    goOn: 'Ohne Anmeldung weiter',
    first:
      'Beim ersten Start hat fleetd das Passwort des Benutzers admin ausgegeben. Weitere Benutzer legt ein Administrator an.',
    refusals: {
      'no-role':
        'Sie sind bekannt, aber keine Ihrer Gruppen hat hier eine Rolle. Bitten Sie einen Administrator, Sie in eine solche Gruppe aufzunehmen, und melden Sie sich dann neu an.',
      'not-allowed':
        'Sie sind bekannt, dürfen diese Konsole aber nicht benutzen. Bitten Sie einen Administrator darum.',
      disabled: 'Ihr Konto ist hier gesperrt. Bitten Sie einen Administrator, es zu entsperren.',
      'name-taken':
        'Es gibt schon einen Benutzer Ihres Namens, der sich mit einem Passwort anmeldet. Melden Sie sich mit dem Passwort an, oder bitten Sie einen Administrator, ihn mit Ihnen zu verbinden; das Protokoll nennt Ihr Subjekt.',
      roles:
        'Ihr Name oder Ihre Rollen sind hier nicht verwendbar. Fragen Sie einen Administrator; das Protokoll nennt den Grund.',
      'no-name':
        'Sie haben bei Ihrem Anmeldedienst weder Benutzernamen noch bestätigte E-Mail-Adresse. Fragen Sie einen Administrator.',
      denied:
        'Die Anmeldung wurde bei Ihrem Anmeldedienst abgebrochen oder abgelehnt. Versuchen Sie es neu, oder nehmen Sie ein Passwort.',
      attempt: 'Die Anmeldung dauerte zu lange oder begann in einem anderen Fenster. Melden Sie sich neu an.',
      invalid:
        'Die Antwort Ihres Anmeldedienstes war ungültig. Melden Sie sich neu an; hilft das nicht, findet ein Administrator den Grund im Protokoll.',
      unavailable: 'Ihr Anmeldedienst antwortet nicht. Versuchen Sie es später, oder nehmen Sie ein Passwort.',
      database:
        'fleetd konnte die Anmeldung nicht speichern, weil seine Datenbank nicht antwortet. Versuchen Sie es später.',
      'no-provider': 'Diese Konsole kennt nur Passwörter.',
    },
  },
  {
    title: 'Se connecter',
    user: 'Utilisateur',
    password: 'Mot de passe',
    submit: 'Se connecter',
    with: (provider) => `Se connecter avec ${provider}`,
    or: 'ou avec un mot de passe de fleetd',
    notSignedIn: 'Vous n’êtes pas connecté',
    stop: 'Pour arrêter un robot aussitôt, utilisez l’arrêt sur le robot. Un arrêt dans cette console demande une connexion.',
    stopDev: 'Pour arrêter un robot aussitôt, utilisez l’arrêt sur le robot.',
    dev: 'Mode développement : qui n’est pas connecté a tous les droits sur cette machine.',
    goOn: 'Continuer sans se connecter',
    first:
      'À son premier démarrage, fleetd a affiché le mot de passe de l’utilisateur admin. Un administrateur ajoute les autres utilisateurs.',
    refusals: {
      'no-role':
        'Vous êtes connu, mais aucun de vos groupes n’a de rôle ici. Demandez à un administrateur de vous mettre dans un groupe qui en a un, puis connectez-vous de nouveau.',
      'not-allowed':
        'Vous êtes connu, mais ne pouvez pas utiliser cette console. Demandez à un administrateur de l’autoriser.',
      disabled: 'Votre compte est désactivé ici. Demandez à un administrateur de l’activer.',
      'name-taken':
        'Il y a déjà un utilisateur de votre nom qui se connecte avec un mot de passe. Connectez-vous avec ce mot de passe, ou demandez à un administrateur de relier cet utilisateur à vous ; l’audit nomme votre sujet.',
      roles: 'Votre nom ou vos rôles ne sont pas utilisables ici. Demandez à un administrateur ; l’audit dit pourquoi.',
      'no-name':
        'Vous n’avez chez votre fournisseur d’identité ni nom d’utilisateur ni adresse e-mail vérifiée. Demandez à un administrateur.',
      denied:
        'La connexion a été annulée ou refusée chez votre fournisseur d’identité. Réessayez, ou connectez-vous avec un mot de passe.',
      attempt: 'La connexion a duré trop longtemps, ou a commencé dans une autre fenêtre. Connectez-vous de nouveau.',
      invalid:
        'La réponse de votre fournisseur d’identité n’était pas valable. Connectez-vous de nouveau ; si cela n’aide pas, un administrateur trouve la raison dans l’audit.',
      unavailable:
        'Votre fournisseur d’identité ne répond pas. Réessayez plus tard, ou connectez-vous avec un mot de passe.',
      database:
        'fleetd n’a pas pu enregistrer la connexion, parce que sa base de données ne répond pas. Réessayez plus tard.',
      'no-provider': 'Cette console ne connaît que les mots de passe.',
    },
  },
);
