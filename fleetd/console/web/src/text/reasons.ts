import { type Reason, reasons } from '../contract';
import { becauseText } from './because';
import { inButtons } from './buttons';
import { texts } from './language';
import { inPlainWords } from './plain';

/** What each reason of the contract means to people. */
export const useReasonTexts = texts<Record<Reason, string>>(
  inPlainWords(reasons),
  {
    bad_request: 'die Nachricht war nicht verständlich',
    unknown_verb: 'der Roboter kennt diesen Befehl nicht',
    id_reuse: 'die Nummer des Befehls wurde schon verwendet',
    retained_command: 'der Broker hat einen Befehl aufgehoben, was nicht erlaubt ist',
    too_big: 'es ist zu groß',
    not_in_control: 'der Absender hat nicht die Kontrolle über den Roboter',
    busy: 'der Roboter tut etwas, das sich damit nicht verträgt',
    precondition: 'eine Bedingung des Befehls ist nicht erfüllt',
    out_of_order: 'ein neuerer Befehl war vorher da',
    clock_skew: 'die Uhr des Absenders geht vor',
    unchanged: 'es war nichts zu ändern',
    restarted: 'der Roboter hat neu gestartet',
    overloaded: 'beim Roboter warten zu viele Befehle',
    expired: 'es kam zu spät',
    superseded: 'etwas Neueres hat es ersetzt',
    stopped: 'es wurde gestoppt',
    cancelled: 'es wurde abgebrochen',
    skipped: 'jemand hat es übersprungen',
    forbidden: 'der Absender darf das nicht',
    timeout: 'es dauerte zu lange',
    unknown_mode: 'diesen Modus gibt es nicht',
    not_enabled: 'dieser Modus ist abgeschaltet',
    life_disabled: 'das autonome Leben ist abgeschaltet',
    not_calibrated: 'der Roboter ist nicht kalibriert; das Hochfahren tut es',
    bad_map: 'die Karte ist nicht lesbar',
    needs_enable: 'es wartet auf die Freigabe der Bewegung',
    needs_continue: 'was ihn anhielt, ist vorbei; die Geschichte wartet, bis jemand sie fortsetzt',
    needs_start: 'die Geschichte wartet, bis jemand sie startet',
    no_default_story: 'der Roboter hat keine Geschichte; weisen Sie eine zu',
    story_empty: 'kein Akt der Geschichte lässt sich hier aufführen',
    story_invalid: 'die Geschichte hat Fehler',
    story_pruned: 'Akte, die dieser Roboter nicht kann, wurden ausgelassen',
    start_failed: 'der Modus konnte nicht beginnen',
    mode_failed: 'der Modus ist ausgefallen',
    safety_disabled: 'der Roboter darf sich nicht bewegen; geben Sie die Bewegung frei',
    needs_reset: 'der Roboter ist gestoppt, bis er zurückgesetzt wird; setzen Sie ihn zurück',
    latched: 'er ist gestoppt, bis der Stopp aufgehoben wird',
    link_lost: 'kein Lebenszeichen erreichte den Roboter',
    estop_input: 'ein Stopp-Eingang am Roboter ist gedrückt',
    local_only: 'nur der Knopf am Roboter setzt ihn zurück',
    reset_settling: 'der Roboter wird noch zurückgesetzt',
    unit_error: 'eine Einheit des Roboters meldet einen Fehler',
    resource_busy: 'etwas anderes benutzt diese Einheit des Roboters',
    device_disabled: 'eine Einheit des Roboters ist außer Betrieb',
    unit_critical: 'eine kritische Einheit ist beschädigt oder zu heiß',
    safeguard: 'eine Schutzfunktion hält den Roboter fest',
    out_of_range: 'der Roboter kann das nicht oder nicht so viel davon',
    invalid_transition: 'das ist jetzt nicht möglich',
    not_in_ato: 'der Roboter ist nicht in der Automatik',
    not_in_mnl: 'der Roboter ist nicht im Handbetrieb',
    unknown_handler: 'der Roboter kennt diese Reaktion nicht',
    unknown_interrupter: 'der Roboter kennt diesen Auslöser nicht',
    interrupter_stopped: 'der Auslöser ist abgeschaltet',
    ignored_global: 'die Geschichte ist pausiert, oder die Automatik ist nicht aktiv',
    ignored_duplicate: 'diese Reaktion läuft schon',
    ignored_condition: 'die Bedingung dieser Reaktion ist nicht erfüllt',
    unknown_activity: 'der Roboter hat diese Aktivität nicht',
    interactive_focused: 'sie wartet, bis der Roboter mit Menschen fertig ist',
    activity_lacks_permission: 'die Aktivität ist jetzt nicht erlaubt',
    cooldown: 'sie lief vor kurzer Zeit',
    unknown_intent: 'der Roboter hat darauf keine Antwort',
    low_confidence: 'der Roboter war sich nicht sicher, was gemeint war',
    humans_lost: 'die Menschen sind gegangen',
    unknown_id: 'unter diesem Namen gibt es nichts',
    stale_revision: 'eine neuere Revision war vorher da',
    wrong_fleet: 'der Roboter gehört zu einer anderen Flotte',
    bad_digest: 'der Inhalt wurde unterwegs beschädigt',
    bad_signature: 'die Signatur fehlt oder ist falsch',
    equivocation: 'zwei verschiedene Dokumente haben denselben Signaturzähler',
    no_space: 'der Datenträger des Roboters ist voll oder defekt',
    not_persisted: 'der Datenträger des Roboters konnte den Stopp nicht speichern',
    unavailable: 'ein Server beantwortet das jetzt nicht',
    unsupported_version: 'das Programm ist dafür zu alt oder zu neu',
    unknown_robot: 'es gibt keinen Roboter dieses Namens',
    obstructed: 'dem Roboter ist etwas im Weg',
    taken_over: 'eine andere Verbindung desselben Namens trat an ihre Stelle',
    undelivered: 'der Roboter war nicht da, um es zu empfangen',
    internal: 'ein Fehler des Programms; sein Log sagt mehr',
  },
  {
    bad_request: 'le message n’était pas compréhensible',
    unknown_verb: 'le robot ne connaît pas cette commande',
    id_reuse: 'le numéro de la commande a déjà servi',
    retained_command: 'le broker a conservé une commande, ce qui n’est pas permis',
    too_big: 'c’est trop gros',
    not_in_control: 'l’expéditeur n’a pas le contrôle du robot',
    busy: 'le robot fait quelque chose qui ne va pas avec cela',
    precondition: 'une condition de la commande n’est pas remplie',
    out_of_order: 'une commande plus récente était arrivée avant',
    clock_skew: 'l’horloge de l’expéditeur avance',
    unchanged: 'il n’y avait rien à changer',
    restarted: 'le robot a redémarré',
    overloaded: 'trop de commandes attendent le robot',
    expired: 'c’est venu trop tard',
    superseded: 'quelque chose de plus récent a pris sa place',
    stopped: 'un arrêt y a mis fin',
    cancelled: 'cela a été annulé',
    skipped: 'quelqu’un l’a passé',
    forbidden: 'l’expéditeur n’en a pas le droit',
    timeout: 'cela a duré trop longtemps',
    unknown_mode: 'ce mode n’existe pas',
    not_enabled: 'ce mode est désactivé',
    life_disabled: 'la vie autonome est désactivée',
    not_calibrated: 'le robot n’est pas étalonné ; le démarrage le fait',
    bad_map: 'la carte n’est pas lisible',
    needs_enable: 'il attend l’autorisation de bouger',
    needs_continue: 'ce qui l’arrêtait est fini ; l’histoire attend que quelqu’un la continue',
    needs_start: 'l’histoire attend que quelqu’un la démarre',
    no_default_story: 'le robot n’a pas d’histoire ; attribuez-lui-en une',
    story_empty: 'aucun acte de l’histoire ne peut être joué ici',
    story_invalid: 'l’histoire a des erreurs',
    story_pruned: 'les actes que ce robot ne sait pas jouer ont été omis',
    start_failed: 'le mode n’a pas pu démarrer',
    mode_failed: 'le mode a échoué',
    safety_disabled: 'le robot ne doit pas bouger ; autorisez le mouvement',
    needs_reset: 'le robot est arrêté jusqu’à une réinitialisation ; réinitialisez-le',
    latched: 'il est arrêté jusqu’à ce que l’arrêt soit levé',
    link_lost: 'aucun signe de vie n’a atteint le robot',
    estop_input: 'une entrée d’arrêt est enfoncée sur le robot',
    local_only: 'seul le bouton sur le robot le réinitialise',
    reset_settling: 'la réinitialisation du robot n’est pas finie',
    unit_error: 'une unité du robot signale une erreur',
    resource_busy: 'autre chose utilise cette unité du robot',
    device_disabled: 'une unité du robot est hors service',
    unit_critical: 'une unité critique est endommagée ou trop chaude',
    safeguard: 'une protection immobilise le robot',
    out_of_range: 'le robot ne sait pas faire cela, ou pas autant',
    invalid_transition: 'ce n’est pas possible maintenant',
    not_in_ato: 'le robot n’est pas en automatique',
    not_in_mnl: 'le robot n’est pas en manuel',
    unknown_handler: 'le robot ne connaît pas cette réaction',
    unknown_interrupter: 'le robot ne connaît pas ce déclencheur',
    interrupter_stopped: 'le déclencheur est désactivé',
    ignored_global: 'l’histoire est en pause, ou l’automatique n’est pas actif',
    ignored_duplicate: 'cette réaction est déjà en cours',
    ignored_condition: 'la condition de cette réaction n’est pas remplie',
    unknown_activity: 'le robot n’a pas cette activité',
    interactive_focused: 'elle attend que le robot ait fini avec les gens',
    activity_lacks_permission: 'l’activité n’est pas permise maintenant',
    cooldown: 'elle a eu lieu il y a peu',
    unknown_intent: 'le robot n’a pas de réponse à cela',
    low_confidence: 'le robot n’était pas sûr d’avoir compris',
    humans_lost: 'les gens sont partis',
    unknown_id: 'il n’y a rien sous ce nom',
    stale_revision: 'une révision plus récente était arrivée avant',
    wrong_fleet: 'le robot appartient à une autre flotte',
    bad_digest: 'le contenu a été abîmé en route',
    bad_signature: 'la signature manque ou est fausse',
    equivocation: 'deux documents différents ont le même compteur de signature',
    no_space: 'le disque du robot est plein ou défectueux',
    not_persisted: 'le disque du robot n’a pas pu enregistrer l’arrêt',
    unavailable: 'un serveur ne répond pas à cela maintenant',
    unsupported_version: 'le programme est trop ancien ou trop récent pour cela',
    unknown_robot: 'aucun robot ne porte ce nom',
    obstructed: 'quelque chose est sur le chemin du robot',
    taken_over: 'une autre connexion du même nom a pris sa place',
    undelivered: 'le robot n’était pas là pour le recevoir',
    internal: 'une erreur du programme ; son journal en dit plus',
  },
);

/** What a reason means, with the console's buttons in place of verbs; what is none, such as a person's words, stays. */
export function whyText(words: Record<string, string>, why: string, otherwise = why): string {
  return Object.hasOwn(words, why) ? inButtons(words[why]!) : otherwise;
}

/** What a robot says itself is English: the text of an English page, and no more than a tooltip on another. */
const useOwn = texts(
  { text: (_: string, own: string) => own, tooltip: (_: string) => '' },
  { text: (said) => said, tooltip: (own) => `Der Roboter sagt: „${own}“` },
  { text: (said) => said, tooltip: (own) => `Le robot dit : « ${own} »` },
);

/** Words of the page's language for what a robot says itself in English; its own ones if there are none. */
export const saidText = (words: string | undefined, own: string): string =>
  words && own ? useOwn.now().text(words, own) : own || (words ?? '');

/**
 * A reason in the language of the page. A detail is the robot's own sentence, in English: on an English page it says
 * more than the words for the code; on another it is shown only where there is no code. See ownTooltip. `about` names
 * what it is about, in words, such as who has control.
 */
export function reasonText(words: Record<string, string>, reason?: string, detail?: string, about = ''): string {
  const means = reason && Object.hasOwn(words, reason) ? inButtons(words[reason]!) : '';
  const said = means && about ? `${means} (${about})` : means;
  return saidText(said, inButtons(becauseText(detail ?? ''))) || (reason ?? '').replaceAll('_', ' ');
}

/** What the robot says itself, where reasonText says it in the words of another language; empty otherwise. */
export function ownReason(words: Record<string, string>, reason?: string, detail?: string): string {
  return ownTooltip(words, reason, detail) ? inButtons(detail!) : '';
}

/** The robot's own sentence, for the tooltip of reasonText; undefined where that shows it. */
export function ownTooltip(words: Record<string, string>, reason?: string, detail?: string): string | undefined {
  if (!detail || !reason || !Object.hasOwn(words, reason)) return undefined;
  return useOwn.now().tooltip(inButtons(detail)) || undefined;
}
