import type { Robot } from '../api/client';
import type * as contract from '../contract';
import { texts } from './language';

interface Terms {
  ModeID: Record<contract.ModeID, string>;
  SafetyState: Record<contract.SafetyState, string>;
  ModePhase: Record<contract.ModePhase, string>;
  AutoStatus: Record<contract.AutoStatus, string>;
  LifeState: Record<contract.LifeState, string>;
  LinkState: Record<contract.LinkState, string>;
  DeployPhase: Record<contract.DeployPhase, string>;
  AlertLevel: Record<contract.AlertLevel, string>;
  EventLevel: Record<contract.EventLevel, string>;
  Status: Record<contract.Status, string>;
  Safeguard: Record<contract.Safeguard, string>;
}

/** Words for the enums of the contract, by the name that topics.md has for each. */
export const useTermWords = texts<Terms>(
  {
    ModeID: { str: 'start-up', mnl: 'manual', ato: 'automatic', safe: 'safe mode' },
    SafetyState: {
      DISABLED: 'kept stopped',
      ENABLED: 'free to move',
      SOFT_STOP: 'is stopping after its shutdown act',
      STOP: 'is stopping',
      HALT: 'is halting',
      E_STOP: 'stopped until it is reset',
      RESET: 'is being reset',
    },
    ModePhase: { running: 'running', switching: 'is changing', stopping: 'is ending', failed: 'failed' },
    AutoStatus: {
      halt: 'not in automatic',
      idle: 'playing',
      paused: 'paused',
      stopped: 'not playing',
    },
    LifeState: {
      disabled: 'does nothing by itself',
      solitary: 'on its own, without people',
      interactive: 'with people',
      safeguard: 'protects itself',
    },
    LinkState: {
      never: 'no heartbeat yet',
      up: 'heartbeats arrive',
      degraded: 'heartbeats arrive irregularly',
      lost: 'no heartbeats arrive',
    },
    DeployPhase: {
      idle: 'nothing to do',
      fetching: 'is being fetched',
      verifying: 'is being checked',
      validating: 'is being checked',
      staged: 'on the robot, not in use yet',
      waiting: 'waits for its turn',
      held: 'not applied by itself',
      activating: 'is being put to use',
      active: 'in use',
      rejected: 'refused',
      failed: 'did not succeed',
      rolled_back: 'failed; the one before is in use',
      superseded: 'replaced by a newer one',
      withdrawn: 'none, as desired',
    },
    Safeguard: {
      pushed: 'somebody pushes it',
      moved: 'somebody lifts or rolls it',
      fell: 'it has fallen, or is about to fall',
      critical_diagnosis: 'a unit without which it may not move is broken',
      critical_temperature: 'a unit without which it may not move is too hot',
    },
    AlertLevel: { info: 'note', warn: 'warning', error: 'error', critical: 'critical' },
    EventLevel: { info: 'note', warn: 'warning', error: 'error', safety: 'safety' },
    Status: {
      ACCEPTED: 'accepted',
      IN_PROGRESS: 'in progress',
      SUCCEEDED: 'done',
      REJECTED: 'refused',
      FAILED: 'failed',
      CANCELLED: 'cancelled',
      EXPIRED: 'too late',
      SUPERSEDED: 'replaced by a newer one',
    },
  },
  {
    ModeID: { str: 'Hochfahren', mnl: 'Handbetrieb', ato: 'Automatik', safe: 'sicherer Modus' },
    SafetyState: {
      DISABLED: 'bleibt stehen',
      ENABLED: 'darf sich bewegen',
      SOFT_STOP: 'hält nach dem Schlussakt an',
      STOP: 'hält an',
      HALT: 'hält sofort an',
      E_STOP: 'gestoppt, bis er zurückgesetzt wird',
      RESET: 'wird zurückgesetzt',
    },
    ModePhase: { running: 'läuft', switching: 'wechselt', stopping: 'endet', failed: 'ausgefallen' },
    AutoStatus: {
      halt: 'nicht in der Automatik',
      idle: 'spielt',
      paused: 'pausiert',
      stopped: 'spielt nicht',
    },
    LifeState: {
      disabled: 'tut nichts von selbst',
      solitary: 'für sich, ohne Menschen',
      interactive: 'mit Menschen',
      safeguard: 'schützt sich',
    },
    LinkState: {
      never: 'noch kein Lebenszeichen',
      up: 'Lebenszeichen kommen an',
      degraded: 'Lebenszeichen kommen unregelmäßig an',
      lost: 'kein Lebenszeichen kommt an',
    },
    DeployPhase: {
      idle: 'nichts zu tun',
      fetching: 'wird geholt',
      verifying: 'wird geprüft',
      validating: 'wird geprüft',
      staged: 'auf dem Roboter, noch nicht in Gebrauch',
      waiting: 'wartet, bis es so weit ist',
      held: 'wird nicht von selbst angewendet',
      activating: 'wird in Gebrauch genommen',
      active: 'in Gebrauch',
      rejected: 'abgelehnt',
      failed: 'ist nicht gelungen',
      rolled_back: 'fehlgeschlagen; die vorige ist in Gebrauch',
      superseded: 'durch eine neuere ersetzt',
      withdrawn: 'keine, wie verlangt',
    },
    Safeguard: {
      pushed: 'jemand schiebt ihn',
      moved: 'jemand hebt oder rollt ihn',
      fell: 'er ist gefallen oder droht zu fallen',
      critical_diagnosis: 'eine Einheit, ohne die er sich nicht bewegen darf, ist defekt',
      critical_temperature: 'eine Einheit, ohne die er sich nicht bewegen darf, ist zu heiß',
    },
    AlertLevel: { info: 'Hinweis', warn: 'Warnung', error: 'Fehler', critical: 'kritisch' },
    EventLevel: { info: 'Hinweis', warn: 'Warnung', error: 'Fehler', safety: 'Sicherheit' },
    Status: {
      ACCEPTED: 'angenommen',
      IN_PROGRESS: 'läuft',
      SUCCEEDED: 'getan',
      REJECTED: 'abgelehnt',
      FAILED: 'fehlgeschlagen',
      CANCELLED: 'abgebrochen',
      EXPIRED: 'zu spät',
      SUPERSEDED: 'durch einen neueren ersetzt',
    },
  },
  {
    ModeID: { str: 'démarrage', mnl: 'manuel', ato: 'automatique', safe: 'mode sûr' },
    SafetyState: {
      DISABLED: 'maintenu à l’arrêt',
      ENABLED: 'libre de bouger',
      SOFT_STOP: 's’arrête après son acte de fin',
      STOP: 's’arrête',
      HALT: 's’arrête net',
      E_STOP: 'arrêté jusqu’à une réinitialisation',
      RESET: 'en cours de réinitialisation',
    },
    ModePhase: { running: 'en marche', switching: 'change', stopping: 'se termine', failed: 'a échoué' },
    AutoStatus: {
      halt: 'pas en automatique',
      idle: 'joue',
      paused: 'en pause',
      stopped: 'ne joue pas',
    },
    LifeState: {
      disabled: 'ne fait rien de lui-même',
      solitary: 'pour lui-même, sans personne',
      interactive: 'avec des gens',
      safeguard: 'se protège',
    },
    LinkState: {
      never: 'pas encore de signe de vie',
      up: 'les signes de vie arrivent',
      degraded: 'les signes de vie arrivent irrégulièrement',
      lost: 'aucun signe de vie n’arrive',
    },
    DeployPhase: {
      idle: 'rien à faire',
      fetching: 'est en train d’arriver',
      verifying: 'est vérifiée',
      validating: 'est vérifiée',
      staged: 'sur le robot, pas encore utilisée',
      waiting: 'attend son tour',
      held: 'n’est pas appliquée d’elle-même',
      activating: 'est mise en service',
      active: 'en service',
      rejected: 'refusée',
      failed: 'n’a pas réussi',
      rolled_back: 'a échoué ; la précédente est en service',
      superseded: 'remplacée par une plus récente',
      withdrawn: 'aucune, comme voulu',
    },
    Safeguard: {
      pushed: 'quelqu’un le pousse',
      moved: 'quelqu’un le soulève ou le fait rouler',
      fell: 'il est tombé, ou va tomber',
      critical_diagnosis: 'une unité sans laquelle il ne doit pas bouger est en panne',
      critical_temperature: 'une unité sans laquelle il ne doit pas bouger est trop chaude',
    },
    AlertLevel: { info: 'note', warn: 'avertissement', error: 'erreur', critical: 'critique' },
    EventLevel: { info: 'note', warn: 'avertissement', error: 'erreur', safety: 'sécurité' },
    Status: {
      ACCEPTED: 'acceptée',
      IN_PROGRESS: 'en cours',
      SUCCEEDED: 'faite',
      REJECTED: 'refusée',
      FAILED: 'échouée',
      CANCELLED: 'annulée',
      EXPIRED: 'trop tard',
      SUPERSEDED: 'remplacée par une plus récente',
    },
  },
);

/** Whether a robot is connected: fleetd's view of its presence. */
export const usePresenceWords = texts<Record<Robot['presence']['status'], string>>(
  {
    online: 'online',
    degraded: 'poor connection',
    lost: 'connection lost',
    offline: 'offline',
    sleeping: 'asleep',
    unknown: 'unknown',
  },
  {
    online: 'online',
    degraded: 'schlechte Verbindung',
    lost: 'Verbindung verloren',
    offline: 'offline',
    sleeping: 'schläft',
    unknown: 'unbekannt',
  },
  {
    online: 'connecté',
    degraded: 'mauvaise connexion',
    lost: 'connexion perdue',
    offline: 'hors ligne',
    sleeping: 'en veille',
    unknown: 'inconnu',
  },
);

/** Marks of a robot beside its states. */
export const useMarkWords = texts(
  { latched: 'stopped until released', 'not adopted': 'not part of the fleet', 'no state': 'nothing reported yet' },
  {
    latched: 'gestoppt, bis der Stopp aufgehoben wird',
    'not adopted': 'gehört nicht zur Flotte',
    'no state': 'noch nichts gemeldet',
  },
  {
    latched: 'arrêté jusqu’à la levée de l’arrêt',
    'not adopted': 'pas dans la flotte',
    'no state': 'rien de signalé encore',
  },
);

/** The words for a code; the code itself, readable, if there are none. */
export function inWords(words: Record<string, string>, code?: string): string {
  return code ? (words[code] ?? code.replaceAll('_', ' ')) : '';
}

/** The words for a code with the code beside them, for tooltips. */
export function withTerm(words: Record<string, string>, code?: string): string {
  if (!code) return '';
  const said = words[code];
  return said && said !== code ? `${said} (${code})` : code.replaceAll('_', ' ');
}
