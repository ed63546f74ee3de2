import type { Schemas } from '../api/client';
import type { AlertType } from '../contract';
import { documentText } from './documents';
import { texts } from './language';
import { useReasonTexts, whyText } from './reasons';
import { useTermWords } from './terms';
import { dateTime } from './time';

/** What an alert has beside its type: enough for a sentence in any language. */
export interface AlertFacts {
  type: string;
  source: string;
  params?: Schemas['SchemaAlertParams'];
}

/** The parameters of an alert in words; empty if it has none. */
interface Said {
  source: string;
  /** The source as a document, as a mode, and as a safeguard. */
  document: string;
  mode: string;
  safeguard: string;
  reason: string;
  until: string;
  made: string;
  of: Schemas['SchemaAlertParams'];
}

type Sentence = (a: Said) => string;

const days = (n: number) => (n === 1 ? 'day' : `${n} days`);
const jeden = (n: number) => (n === 1 ? 'jeden Tag' : `alle ${n} Tage`);
const chaque = (n: number) => (n === 1 ? 'chaque jour' : `tous les ${n} jours`);

const english = {
  story_failing: ({ of, reason }) =>
    of.act && reason
      ? `Every act of the story ${of.story ?? '?'} fails. The last error is of ${of.act}: ${reason}.`
      : '',
  battery_low: ({ of }) => (of.percent ? `The battery is below ${of.percent} %.` : ''),
  ability_failed: ({ source, reason }) =>
    reason ? `${source}: it cannot do what the robot does by itself between acts: ${reason}.` : '',
  calibration_failed: ({ reason }) => (reason ? `Calibration failed: ${reason}.` : ''),
  calibration_waits: ({ source, reason }) => (reason ? `Calibration would move ${source} and waits: ${reason}.` : ''),
  disk_refuses: ({ reason }) => (reason ? `The robot’s disk does not write: ${reason}.` : ''),
  messages_dropped: ({ document, reason }) =>
    reason ? `The broker refuses messages of the robot (${document}): ${reason}.` : '',
  cannot_charge: ({ reason }) =>
    reason ? `The robot does not get to its charger, or does not charge: ${reason}.` : '',
  untrusted_document: ({ document, reason }) =>
    reason ? `What is assigned to it cannot be trusted (${document}): ${reason}.` : '',
  certificate_expiring: ({ until }) => (until ? `The robot’s certificate ends on ${until}.` : ''),
  safeguard: ({ safeguard }) => (safeguard ? `A safeguard holds it still: ${safeguard}.` : ''),
  mode_hung: ({ mode }) =>
    mode ? `The mode “${mode}” did not answer, so the robot’s program ended and began anew.` : '',
  not_in_database: ({ document }) => `The robot has something that fleetd’s database does not have: ${document}.`,
  content_damaged: ({ document }) => `What the robot fetches arrives damaged: ${document}.`,
  clock_differs: ({ source }) => `The clock of ${source} is not the one that the robot goes by.`,
  stop_button_silent: ({ source }) => `The stop button ${source} sends no heartbeat; it may not stop the robots.`,
  robot_stopped: ({ of }) => (of.by ? `Stopped by ${of.by}${of.why ? `: ${of.why}` : ''}.` : ''),
  backup_old: ({ of, made }) =>
    !of.days
      ? ''
      : made
        ? `The newest backup is of ${made}; one is expected every ${days(of.days)}.`
        : `No backup was ever made; one is expected every ${days(of.days)}.`,
} satisfies Partial<Record<AlertType, Sentence>>;

const german: Record<keyof typeof english, Sentence> = {
  story_failing: ({ of, reason }) =>
    of.act && reason
      ? `Jeder Akt der Geschichte ${of.story ?? '?'} schlägt fehl. Der letzte Fehler ist von ${of.act}: ${reason}.`
      : '',
  battery_low: ({ of }) => (of.percent ? `Die Batterie hat weniger als ${of.percent} %.` : ''),
  ability_failed: ({ source, reason }) =>
    reason ? `${source}: es gelingt nicht, was der Roboter zwischen Akten von selbst tut: ${reason}.` : '',
  calibration_failed: ({ reason }) => (reason ? `Die Kalibrierung schlug fehl: ${reason}.` : ''),
  calibration_waits: ({ source, reason }) =>
    reason ? `Die Kalibrierung würde ${source} bewegen und wartet: ${reason}.` : '',
  disk_refuses: ({ reason }) => (reason ? `Der Datenträger des Roboters schreibt nicht: ${reason}.` : ''),
  messages_dropped: ({ document, reason }) =>
    reason ? `Der Broker lehnt Nachrichten des Roboters ab (${document}): ${reason}.` : '',
  cannot_charge: ({ reason }) =>
    reason ? `Der Roboter kommt nicht zum Ladegerät oder lädt dort nicht: ${reason}.` : '',
  untrusted_document: ({ document, reason }) =>
    reason ? `Etwas Zugewiesenes ist nicht vertrauenswürdig (${document}): ${reason}.` : '',
  certificate_expiring: ({ until }) => (until ? `Das Zertifikat des Roboters endet am ${until}.` : ''),
  safeguard: ({ safeguard }) => (safeguard ? `Eine Schutzfunktion hält ihn fest: ${safeguard}.` : ''),
  mode_hung: ({ mode }) =>
    mode ? `Der Modus „${mode}“ antwortete nicht; deshalb endete das Programm des Roboters und begann neu.` : '',
  not_in_database: ({ document }) => `Der Roboter hat etwas, das in der Datenbank von fleetd fehlt: ${document}.`,
  content_damaged: ({ document }) => `Was der Roboter lädt, kommt beschädigt an: ${document}.`,
  clock_differs: ({ source }) => `Die Uhr von ${source} ist nicht die, nach der der Roboter geht.`,
  stop_button_silent: ({ source }) =>
    `Der Stoppknopf ${source} sendet kein Lebenszeichen; er kann die Roboter vielleicht nicht stoppen.`,
  robot_stopped: ({ of }) => (of.by ? `Gestoppt von ${of.by}${of.why ? `: ${of.why}` : ''}.` : ''),
  backup_old: ({ of, made }) =>
    !of.days
      ? ''
      : made
        ? `Die neueste Sicherung ist vom ${made}; ${jeden(of.days)} wird eine erwartet.`
        : `Es gab noch keine Sicherung; ${jeden(of.days)} wird eine erwartet.`,
};

const french: Record<keyof typeof english, Sentence> = {
  story_failing: ({ of, reason }) =>
    of.act && reason
      ? `Chaque acte de l’histoire ${of.story ?? '?'} échoue. La dernière erreur est de ${of.act} : ${reason}.`
      : '',
  battery_low: ({ of }) => (of.percent ? `La batterie est au-dessous de ${of.percent} %.` : ''),
  ability_failed: ({ source, reason }) =>
    reason ? `${source} : ce que le robot fait de lui-même entre les actes ne réussit pas : ${reason}.` : '',
  calibration_failed: ({ reason }) => (reason ? `L’étalonnage a échoué : ${reason}.` : ''),
  calibration_waits: ({ source, reason }) => (reason ? `L’étalonnage bougerait ${source} et attend : ${reason}.` : ''),
  disk_refuses: ({ reason }) => (reason ? `Le disque du robot n’écrit pas : ${reason}.` : ''),
  messages_dropped: ({ document, reason }) =>
    reason ? `Le broker refuse des messages du robot (${document}) : ${reason}.` : '',
  cannot_charge: ({ reason }) =>
    reason ? `Le robot n’arrive pas à son chargeur, ou ne s’y charge pas : ${reason}.` : '',
  untrusted_document: ({ document, reason }) =>
    reason ? `Quelque chose d’attribué n’est pas fiable (${document}) : ${reason}.` : '',
  certificate_expiring: ({ until }) => (until ? `Le certificat du robot finit le ${until}.` : ''),
  safeguard: ({ safeguard }) => (safeguard ? `Une protection l’immobilise : ${safeguard}.` : ''),
  mode_hung: ({ mode }) =>
    mode ? `Le mode « ${mode} » ne répondait plus ; le programme du robot s’est donc terminé et a recommencé.` : '',
  not_in_database: ({ document }) => `Le robot a quelque chose que la base de données de fleetd n’a pas : ${document}.`,
  content_damaged: ({ document }) => `Ce que le robot va chercher arrive abîmé : ${document}.`,
  clock_differs: ({ source }) => `L’horloge de ${source} n’est pas celle que suit le robot.`,
  stop_button_silent: ({ source }) =>
    `Le bouton d’arrêt ${source} n’envoie aucun signe de vie ; il n’arrêtera peut-être pas les robots.`,
  robot_stopped: ({ of }) => (of.by ? `Arrêté par ${of.by}${of.why ? ` : ${of.why}` : ''}.` : ''),
  backup_old: ({ of, made }) =>
    !of.days
      ? ''
      : made
        ? `La dernière sauvegarde est du ${made} ; une est attendue ${chaque(of.days)}.`
        : `Aucune sauvegarde n’a été faite ; une est attendue ${chaque(of.days)}.`,
};

const useSentences = texts<Record<keyof typeof english, Sentence>>(english, german, french);

/** What an alert says by its parameters, in the language of the page; empty if an earlier release sent none. */
export function alertSentence({ type, source, params = {} }: AlertFacts): string {
  const sentences: Record<string, Sentence> = useSentences.now();
  if (!Object.hasOwn(sentences, type)) return '';
  const terms: Record<'ModeID' | 'Safeguard', Record<string, string>> = useTermWords.now();
  return sentences[type]!({
    source,
    document: documentText(source),
    mode: terms.ModeID[source] ?? '',
    safeguard: terms.Safeguard[source] ?? '',
    reason: params.reason ? whyText(useReasonTexts.now(), params.reason) : '',
    until: params.until ? dateTime(params.until) : '',
    made: params.made ? dateTime(params.made) : '',
    of: params,
  });
}
