import { because, type Because } from '../contract';
import { texts } from './language';
import { plainText } from './plain';

/** Why a command is in its state. fleetd keeps its English sentence with the command; it is the key here. */
const useBecauseTexts = texts<Record<Because, string>>(
  Object.fromEntries(because.map((b) => [b, plainText(b)])) as Record<Because, string>,
  {
    'published to the broker': 'an den Broker übergeben',
    'no acknowledgement yet, so it was sent again': 'noch keine Bestätigung, deshalb noch einmal gesendet',
    'cancelled before it was sent': 'vor dem Senden abgebrochen',
    'not sent: the database did not say whether it was recorded':
      'nicht gesendet: die Datenbank hat nicht bestätigt, dass er gespeichert ist',
    'its latched stop was released before it was sent': 'der Stopp wurde aufgehoben, bevor er gesendet war',
    'its latched stop was released, so it is not sent again; it may or may not have been executed':
      'der Stopp wurde aufgehoben und wird nicht noch einmal gesendet; ob er ausgeführt wurde, ist nicht bekannt',
    'it expired before it was sent': 'er lief ab, bevor er gesendet war',
    'sent, but not answered in time; it may or may not have been executed':
      'gesendet, doch nicht rechtzeitig beantwortet; ob er ausgeführt wurde, ist nicht bekannt',
    'the robot accepted it and then did not answer queries about it':
      'der Roboter nahm ihn an und beantwortete dann keine Nachfrage dazu',
    'the robot has no record of it, and it is not sent again':
      'der Roboter weiß nichts davon, und er wird nicht noch einmal gesendet',
    'the robot accepted it, but no longer has a record of it': 'der Roboter nahm ihn an, weiß aber nichts mehr davon',
    'the fleetd instance that sent it is gone; it may or may not have been executed':
      'die Instanz von fleetd, die ihn sendete, ist weg; ob er ausgeführt wurde, ist nicht bekannt',
    'the robot accepted it': 'der Roboter hat ihn angenommen',
    'the robot is executing it': 'der Roboter führt ihn aus',
    'the robot reports success': 'der Roboter meldet, dass es getan ist',
    'the robot started it and failed': 'der Roboter begann damit, und es schlug fehl',
    'the robot refused it and did nothing': 'der Roboter lehnte ihn ab und tat nichts',
    'ended by another request or a stop': 'durch einen anderen Befehl oder einen Stopp beendet',
    'replaced by a newer command of the same kind': 'durch einen neueren Befehl derselben Art ersetzt',
    'it was too old when the robot wanted to start it': 'er war zu alt, als der Roboter damit beginnen wollte',
    'saved; fleetd sends it now, or when earlier commands to the robot are done':
      'gespeichert; fleetd sendet ihn jetzt, oder sobald frühere Befehle an den Roboter erledigt sind',
    'not sent: fleetd is not connected to the broker; it is sent if the connection is back in time':
      'nicht gesendet: fleetd ist nicht mit dem Broker verbunden; er wird gesendet, wenn die Verbindung rechtzeitig zurückkommt',
    'not sent: the robot is unknown; it is sent if the robot is back in time':
      'nicht gesendet: von dem Roboter ist nichts bekannt; er wird gesendet, wenn der Roboter rechtzeitig zurückkommt',
    'not sent: the robot is lost; it is sent if the robot is back in time':
      'nicht gesendet: die Verbindung zum Roboter ist verloren; er wird gesendet, wenn der Roboter rechtzeitig zurückkommt',
    'not sent: the robot is offline; it is sent if the robot is back in time':
      'nicht gesendet: der Roboter ist offline; er wird gesendet, wenn der Roboter rechtzeitig zurückkommt',
    'not sent: the robot is sleeping; it is sent if the robot is back in time':
      'nicht gesendet: der Roboter schläft; er wird gesendet, wenn der Roboter rechtzeitig zurückkommt',
  },
  {
    'published to the broker': 'transmise au broker',
    'no acknowledgement yet, so it was sent again': 'pas encore de confirmation ; elle a donc été envoyée de nouveau',
    'cancelled before it was sent': 'annulée avant d’être envoyée',
    'not sent: the database did not say whether it was recorded':
      'pas envoyée : la base de données n’a pas dit si elle était enregistrée',
    'its latched stop was released before it was sent': 'l’arrêt a été levé avant d’être envoyé',
    'its latched stop was released, so it is not sent again; it may or may not have been executed':
      'l’arrêt a été levé et n’est plus envoyé ; on ne sait pas s’il a été exécuté',
    'it expired before it was sent': 'elle a expiré avant d’être envoyée',
    'sent, but not answered in time; it may or may not have been executed':
      'envoyée, mais sans réponse à temps ; on ne sait pas si elle a été exécutée',
    'the robot accepted it and then did not answer queries about it':
      'le robot l’a acceptée, puis n’a pas répondu aux questions à son sujet',
    'the robot has no record of it, and it is not sent again': 'le robot n’en sait rien, et elle n’est plus envoyée',
    'the robot accepted it, but no longer has a record of it': 'le robot l’a acceptée, mais n’en sait plus rien',
    'the fleetd instance that sent it is gone; it may or may not have been executed':
      'l’instance de fleetd qui l’a envoyée a disparu ; on ne sait pas si elle a été exécutée',
    'the robot accepted it': 'le robot l’a acceptée',
    'the robot is executing it': 'le robot l’exécute',
    'the robot reports success': 'le robot signale que c’est fait',
    'the robot started it and failed': 'le robot a commencé, et cela a échoué',
    'the robot refused it and did nothing': 'le robot l’a refusée et n’a rien fait',
    'ended by another request or a stop': 'finie par une autre commande ou un arrêt',
    'replaced by a newer command of the same kind': 'remplacée par une commande plus récente du même genre',
    'it was too old when the robot wanted to start it': 'elle était trop ancienne quand le robot a voulu commencer',
    'saved; fleetd sends it now, or when earlier commands to the robot are done':
      'enregistrée ; fleetd l’envoie maintenant, ou quand les commandes précédentes au robot sont finies',
    'not sent: fleetd is not connected to the broker; it is sent if the connection is back in time':
      'pas envoyée : fleetd n’est pas connecté au broker ; elle l’est si la connexion revient à temps',
    'not sent: the robot is unknown; it is sent if the robot is back in time':
      'pas envoyée : on ne sait rien du robot ; elle l’est s’il revient à temps',
    'not sent: the robot is lost; it is sent if the robot is back in time':
      'pas envoyée : la connexion avec le robot est perdue ; elle l’est s’il revient à temps',
    'not sent: the robot is offline; it is sent if the robot is back in time':
      'pas envoyée : le robot est hors ligne ; elle l’est s’il revient à temps',
    'not sent: the robot is sleeping; it is sent if the robot is back in time':
      'pas envoyée : le robot est en veille ; elle l’est s’il revient à temps',
  },
);

/** Why a command is in its state, in the language of the page; what is no sentence of fleetd, such as a robot's, stays. */
export function becauseText(because: string): string {
  const [, sentence, broker = ''] = /^(.*? is back in time)( \(.*\))$/s.exec(because) ?? [, because];
  const said: Record<string, string> = useBecauseTexts.now();
  return Object.hasOwn(said, sentence!) ? said[sentence!]! + broker : because;
}
