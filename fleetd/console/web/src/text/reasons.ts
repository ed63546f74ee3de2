import { type Reason, reasons } from '../contract';
import { inButtons } from './buttons';
import { texts } from './language';
import { inPlainWords } from './plain';

/** What each reason of the contract means to people. */
export const useReasonTexts = texts<Record<Reason, string>>(inPlainWords(reasons), {
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
});

/** What a reason means, with the console's buttons in place of verbs; what is none, such as a person's words, stays. */
export function whyText(words: Record<string, string>, why: string, otherwise = why): string {
  return Object.hasOwn(words, why) ? inButtons(words[why]!) : otherwise;
}

const useOwn = texts(
  { withOwn: (_: string, own: string) => own },
  { withOwn: (said, own) => `${said}; er sagt: „${own}“` },
);

/**
 * A reason in the language of the page. A detail is the robot's own sentence, in English: on an English page it says
 * more than the words for the code; on another it stands behind them, as the robot's words.
 */
export function reasonText(words: Record<string, string>, reason?: string, detail?: string): string {
  const own = inButtons(detail ?? '');
  if (!reason) return own;
  const said = Object.hasOwn(words, reason) ? inButtons(words[reason]!) : '';
  if (own && said) return useOwn.now().withOwn(said, own);
  return own || said || reason.replaceAll('_', ' ');
}
