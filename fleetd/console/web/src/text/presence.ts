import type { Robot } from '../api/client';
import type { PresenceCause } from '../contract';
import { texts } from './language';
import { saidText } from './reasons';
import { dateTime, shortDuration, timeOrDate } from './time';
import { usePresenceWords } from './terms';

type Presence = Robot['presence'];

/** Why a robot is not online, by its code; `at` is the instant that it is about, and `takes` how long a message takes. */
const useCauses = texts<{ of: Record<PresenceCause, (at: string, takes: string) => string>; disputed: string }>(
  {
    of: {
      no_broker: (at: string) => `fleetd is not connected to the broker since ${at}`,
      no_message: (at: string) => `no message since fleetd connected at ${at}`,
      no_heartbeat: (at: string) => `no heartbeat since ${at}`,
      hangs: (at: string) => `no heartbeat since ${at}, but other messages arrive: its program hangs`,
      link_degraded: () => 'the robot reports a bad connection',
      link_lost: () => 'the robot reports that no heartbeat reaches it',
      slow: (_, takes) => `a message to the robot and back takes ${takes}`,
      shut_down: () => 'it was shut down',
      ended: () => 'it went offline',
      asleep: (at: string) => (at ? `it sleeps until ${at}` : 'it sleeps'),
      overslept: (at: string) => `it should have woken up at ${at}`,
      disconnected: () => 'its connection was lost',
      revoked: () => 'the broker does not let it in any more; if it belongs to the fleet, enrol it again',
      expired: () => 'its certificate has expired; enrol it again',
    },
    disputed: 'two robots connect under this name: switch one off, or enrol it under a name of its own',
  },
  {
    of: {
      no_broker: (at: string) => `fleetd ist seit ${at} nicht mit dem Broker verbunden`,
      no_message: (at: string) => `keine Nachricht, seit sich fleetd um ${at} verbunden hat`,
      no_heartbeat: (at: string) => `kein Lebenszeichen seit ${at}`,
      hangs: (at: string) => `kein Lebenszeichen seit ${at}, doch andere Nachrichten kommen an: sein Programm hängt`,
      link_degraded: () => 'der Roboter meldet eine schlechte Verbindung',
      link_lost: () => 'der Roboter meldet, dass ihn kein Lebenszeichen erreicht',
      slow: (_, takes) => `eine Nachricht zum Roboter und zurück braucht ${takes}`,
      shut_down: () => 'er wurde heruntergefahren',
      ended: () => 'er hat sich abgemeldet',
      asleep: (at: string) => (at ? `er schläft bis ${at}` : 'er schläft'),
      overslept: (at: string) => `er hätte um ${at} aufwachen sollen`,
      disconnected: () => 'seine Verbindung ging verloren',
      revoked: () => 'der Broker lässt ihn nicht mehr zu; gehört er zur Flotte, nehmen Sie ihn wieder auf (enrol)',
      expired: () => 'sein Zertifikat ist abgelaufen; nehmen Sie ihn wieder auf (enrol)',
    },
    disputed:
      'zwei Roboter verbinden sich unter diesem Namen: schalten Sie einen aus, oder geben Sie ihm einen eigenen Namen',
  },
  {
    of: {
      no_broker: (at: string) => `fleetd n’est pas connecté au broker depuis ${at}`,
      no_message: (at: string) => `aucun message depuis que fleetd s’est connecté à ${at}`,
      no_heartbeat: (at: string) => `aucun signe de vie depuis ${at}`,
      hangs: (at: string) =>
        `aucun signe de vie depuis ${at}, mais d’autres messages arrivent : son programme est bloqué`,
      link_degraded: () => 'le robot signale une mauvaise connexion',
      link_lost: () => 'le robot signale qu’aucun signe de vie ne l’atteint',
      slow: (_, takes) => `un message au robot et retour prend ${takes}`,
      shut_down: () => 'il a été éteint',
      ended: () => 'il s’est déconnecté',
      asleep: (at: string) => (at ? `il est en veille jusqu’à ${at}` : 'il est en veille'),
      overslept: (at: string) => `il aurait dû se réveiller à ${at}`,
      disconnected: () => 'sa connexion a été perdue',
      revoked: () => 'le broker ne le laisse plus entrer ; s’il fait partie de la flotte, inscrivez-le de nouveau',
      expired: () => 'son certificat a expiré ; inscrivez-le de nouveau',
    },
    disputed: 'deux robots se connectent sous ce nom : éteignez-en un, ou inscrivez-le sous un nom à lui',
  },
);

/** Why a robot is not online, in the language of the page; on an English page fleetd's sentence, which says more. */
export function presenceText(p: Presence): string {
  const t = useCauses.now();
  const causes: Partial<Record<string, (at: string, takes: string) => string>> = t.of;
  const at = p.at ? (p.cause === 'asleep' || p.cause === 'overslept' ? dateTime(p.at) : timeOrDate(p.at)) : '';
  const why =
    (p.cause && causes[p.cause]?.(at, shortDuration(p.round_trip_ms ?? 0))) || usePresenceWords.now()[p.status];
  return saidText([why, p.disputed && t.disputed].filter(Boolean).join('; '), p.why ?? '');
}

/** fleetd's own sentence, where presenceText is in another language. */
export const ownPresence = (p: Presence): string => (presenceText(p) === p.why ? '' : (p.why ?? ''));
