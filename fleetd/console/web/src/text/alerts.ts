import { alerts, type AlertType } from '../contract';
import { texts } from './language';
import { alertSentence, type AlertFacts } from './alertSentences';
import { inButtons } from './buttons';
import { plainText } from './plain';
import { saidText } from './reasons';

/** What an alert says to people: its name, what it means, and what ends it. */
export interface AlertWords {
  title: string;
  means: string;
  wayOut: string;
}

/** A text of the contract as a sentence. A program's name stays in lower case. */
const sentence = (text: string) => (/^fleetd /.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1)) + '.';

const english: Record<AlertType, Omit<AlertWords, 'means'>> = {
  story_failing: {
    title: 'no act of its story succeeds',
    wayOut: 'Repair what the last error names, or assign a story that this robot can perform.',
  },
  ability_failed: {
    title: 'a small movement fails',
    wayOut: 'Look at the unit and at the log of its adapter. The robot tries again by itself.',
  },
  mode_hung: {
    title: 'a mode hung',
    wayOut: "Read the robot's log. Switching to that mode tries it again.",
  },
  link_lost: {
    title: 'no heartbeat reaches it',
    wayOut: 'Check the network and whether fleetd runs. The alert ends when heartbeats arrive again.',
  },
  safeguard: {
    title: 'a safeguard holds it still',
    wayOut: 'Look after the robot. It goes on by itself 3 s after that is over.',
  },
  unit_error: {
    title: 'a unit that moves reports an error',
    wayOut: 'Repair the unit, then reset the robot and let it move.',
  },
  device_critical: {
    title: 'a unit is unsafe',
    wayOut: 'Repair the unit and acknowledge the fault, or wait until it has cooled. Then let the robot move.',
  },
  device_disabled: {
    title: 'a unit is out of use',
    wayOut: 'Look at the unit. It is used again when its fault is gone.',
  },
  device_hot: {
    title: 'a unit is warm',
    wayOut: 'Let it cool: shorter or fewer movements, more air. If it becomes hot, the robot stops using it.',
  },
  device_late: {
    title: 'a unit is slow',
    wayOut: 'Look whether it hangs, or whether the time-outs of the acts are too short for it.',
  },
  help_asked: {
    title: 'somebody asks for help',
    wayOut:
      'Go there, then acknowledge it: fleetd sys ack-fault ROBOT --source service. The choice “No, thank you” on the screen ends it, too.',
  },
  battery_low: {
    title: 'battery low',
    wayOut: 'Charge the robot, unless it goes to its charger by itself.',
  },
  cannot_charge: {
    title: 'it cannot charge',
    wayOut: 'Bring it to the charger. The interrupt “power” makes it try again.',
  },
  calibration_waits: {
    title: 'calibration waits',
    wayOut: 'Make sure that nobody is near, then let the robot move. Calibration goes on by itself.',
  },
  calibration_failed: {
    title: 'calibration failed',
    wayOut: 'Remove the cause that is named, then switch to start-up again.',
  },
  map_pending: {
    title: 'a new map waits',
    wayOut: 'When nobody is near, switch to start-up: calibration takes the new map.',
  },
  memory_lost: {
    title: 'it lost its memory',
    wayOut: 'Find out whether somebody had stopped it, and why. Then release the stop lost-disk.',
  },
  not_persisted: {
    title: 'its stop is not saved',
    wayOut: 'Do not restart the robot. Make room on its disk, or replace the disk.',
  },
  disk_refuses: {
    title: 'its disk does not write',
    wayOut: "Make room on the robot's disk, or replace it.",
  },
  recorder_fails: {
    title: 'its recorder does not write',
    wayOut: "Make room on the robot's disk; its log says more.",
  },
  config_unreadable: {
    title: 'its settings cannot be read',
    wayOut: 'Change or assign a setting: fleetd then publishes all of them again.',
  },
  not_in_database: {
    title: 'it has something that fleetd does not know',
    wayOut: 'Assign or set it again to take it over, or withdraw or unset it. The hint has the commands.',
  },
  stop_not_held: {
    title: 'it does not hold a stop that applies to it',
    wayOut: 'fleetd publishes the stop again and the robot stops. Release the stop if it is over.',
  },
  content_damaged: {
    title: 'what it fetches arrives damaged',
    wayOut:
      'The robot tries again by itself. Look for a proxy or a portal between it and fleetd; assigning it again tries at once.',
  },
  certificate_expiring: {
    title: 'its certificate ends soon',
    wayOut: 'Check that the robot reaches fleetd. On the robot, robotd renew tries at once.',
  },
  untrusted_document: {
    title: 'something assigned is not signed as it must be',
    wayOut: 'Sign with a key that the robot trusts, or find out who else writes to the broker.',
  },
  equivocation: {
    title: 'two signed documents have the same signature counter',
    wayOut: 'Find out which programs sign, and where the key is. Replace the key if in doubt.',
  },
  retained_command: {
    title: 'the broker keeps a command',
    wayOut: 'fleetd removes it. Find the program that sends commands with the retain flag.',
  },
  messages_dropped: {
    title: 'the broker drops its messages',
    wayOut:
      'If its source is mqtt, the robot sends too many messages: find the program that sends it too many commands. Otherwise the broker refuses the document that it names: see the log of the robot.',
  },
  clock_differs: {
    title: 'the clock of a server differs',
    wayOut: 'Set the clocks of all servers by the same source.',
  },
  duplicate_identity: {
    title: 'a second robot has its name',
    wayOut: 'Look for a second robot of this name, such as one with a copied disk, and give it its own.',
  },
  presence_overwritten: {
    title: 'somebody else writes whether it is there',
    wayOut: 'Look for a second robot of this name.',
  },
  rollout_paused: {
    title: 'a rollout is paused',
    wayOut:
      'Look at its failures, then roll it back, resume it, offer the content to the failed robots again, or abort it.',
  },
  rollout_waits_for_approval: {
    title: 'a rollout waits for approval',
    wayOut: 'Somebody else than its author, who has the right to approve, looks at it and approves it.',
  },
  schedule_missed: {
    title: 'a schedule was missed',
    wayOut: 'Do what it would have done yourself, if it is still wanted; the next time ends this alert.',
  },
  schedule_failed: {
    title: 'a schedule failed',
    wayOut: 'Read why, correct the schedule or what it needs, and save it.',
  },
  stop_button_silent: {
    title: 'a stop button does not answer',
    wayOut:
      'Look whether it has power and network, and try it when it is back. Until then stop the robots with another button or here.',
  },
  backup_old: {
    title: 'the newest backup is old',
    wayOut: 'On the computer of fleetd, find out why no backup is made, or make one. The next backup ends this alert.',
  },
  rollback_incomplete: {
    title: 'a rollback is incomplete',
    wayOut: 'Look at the robots that are not restored, and roll it back again, or assign something to them.',
  },
  robot_lost: {
    title: 'the connection to it is lost',
    wayOut: 'Look whether it has power and network. What it does without a link follows from its settings.',
  },
  robot_stopped: {
    title: 'it is stopped until somebody releases the stop',
    wayOut: 'Find out why it was stopped. When it is safe, release the stop, then let the robot move.',
  },
};

const withMeaning = (type: AlertType): [AlertType, AlertWords] => [
  type,
  { ...english[type], means: sentence(plainText(alerts[type].replaceAll('`', ''))) },
];

/** What each type of alert means to people. */
export const useAlertWords = texts<Record<AlertType, AlertWords>>(
  Object.fromEntries((Object.keys(alerts) as AlertType[]).map(withMeaning)) as Record<AlertType, AlertWords>,
  {
    story_failing: {
      title: 'kein Akt seiner Geschichte gelingt',
      means: 'In der letzten Runde schlug jeder Akt der Geschichte fehl. Das Publikum sieht wenig oder nichts.',
      wayOut: 'Beheben Sie, was der letzte Fehler nennt, oder weisen Sie eine Geschichte zu, die er kann.',
    },
    ability_failed: {
      title: 'eine kleine Bewegung schlägt fehl',
      means:
        'Eine Einheit kann nicht, was der Roboter zwischen Akten von selbst tut, etwa blinzeln. Die Geschichte läuft.',
      wayOut: 'Sehen Sie nach der Einheit und in das Log ihres Adapters. Der Roboter versucht es von selbst wieder.',
    },
    mode_hung: {
      title: 'ein Modus hing',
      means: 'Ein Modus antwortete nicht mehr, deshalb endete das Programm des Roboters und begann neu.',
      wayOut: 'Lesen Sie das Log des Roboters. Ein Wechsel in diesen Modus versucht ihn wieder.',
    },
    link_lost: {
      title: 'kein Lebenszeichen erreicht ihn',
      means:
        'Der Roboter empfängt kein Lebenszeichen (Heartbeat) von fleetd oder einem Bedienfeld neben ihm; niemand könnte ihn aus der Ferne stoppen.',
      wayOut: 'Prüfen Sie das Netz und ob fleetd läuft. Der Alarm endet, wenn wieder Lebenszeichen ankommen.',
    },
    safeguard: {
      title: 'eine Schutzfunktion hält ihn fest',
      means: 'Jemand schiebt oder hebt den Roboter, oder er fällt. Nichts an ihm bewegt sich.',
      wayOut: 'Sehen Sie nach dem Roboter. Er macht 3 s danach von selbst weiter.',
    },
    unit_error: {
      title: 'eine bewegliche Einheit meldet einen Fehler',
      means: 'Der Fehler dieser Einheit hat den ganzen Roboter gestoppt.',
      wayOut: 'Reparieren Sie die Einheit, setzen Sie den Roboter zurück und geben Sie die Bewegung frei.',
    },
    device_critical: {
      title: 'eine Einheit ist unsicher',
      means:
        'Eine Einheit, ohne die er sich nicht bewegen darf, hat einen Fehler oder ist viel zu heiß. Der Roboter ruht.',
      wayOut:
        'Reparieren Sie die Einheit und bestätigen Sie den Fehler, oder lassen Sie sie abkühlen. Dann Bewegung freigeben.',
    },
    device_disabled: {
      title: 'eine Einheit ist außer Betrieb',
      means:
        'Eine Einheit hat einen Fehler oder ist heiß; niemand benutzt sie. Aktionen damit schlagen fehl, der Rest läuft.',
      wayOut: 'Sehen Sie nach der Einheit. Sie wird wieder benutzt, wenn ihr Fehler weg ist.',
    },
    device_hot: {
      title: 'eine Einheit ist warm',
      means: 'Eine Einheit ist wärmer als sonst und noch in Betrieb.',
      wayOut:
        'Lassen Sie sie abkühlen: weniger Bewegung, mehr Luft. Wird sie heiß, benutzt der Roboter sie nicht mehr.',
    },
    device_late: {
      title: 'eine Einheit ist langsam',
      means: 'Eine Einheit wurde mit ihren letzten Befehlen nicht rechtzeitig fertig.',
      wayOut: 'Sehen Sie nach, ob sie hängt oder ob die Akte ihr zu wenig Zeit geben.',
    },
    help_asked: {
      title: 'jemand bittet um Hilfe',
      means: 'Eine Person beim Roboter hat auf seinem Bildschirm „Ich brauche Hilfe“ gewählt.',
      wayOut:
        'Gehen Sie hin und bestätigen Sie es dann: fleetd sys ack-fault ROBOT --source service. Auch „Nein, danke“ auf dem Bildschirm beendet es.',
    },
    battery_low: {
      title: 'Batterie schwach',
      means: 'Die Batterie hat weniger als die Einstellung low_battery.',
      wayOut: 'Laden Sie den Roboter, wenn er nicht von selbst zum Ladegerät fährt.',
    },
    cannot_charge: {
      title: 'er kann nicht laden',
      means: 'Der Roboter kommt nicht zu seinem Ladegerät oder lädt dort nicht.',
      wayOut: 'Bringen Sie ihn zum Ladegerät. Mit der Unterbrechung „power“ versucht er es wieder.',
    },
    calibration_waits: {
      title: 'die Kalibrierung wartet',
      means: 'Die Kalibrierung würde eine Einheit bewegen, was jetzt nicht erlaubt ist.',
      wayOut: 'Achten Sie darauf, dass niemand nahe ist, und geben Sie die Bewegung frei. Dann geht sie weiter.',
    },
    calibration_failed: {
      title: 'die Kalibrierung schlug fehl',
      means: 'Das Hochfahren endete nicht, wie es soll; der Roboter ist für andere Modi nicht bereit.',
      wayOut: 'Beseitigen Sie die genannte Ursache und wechseln Sie noch einmal zum Hochfahren.',
    },
    map_pending: {
      title: 'eine neue Karte wartet',
      means: 'Der Roboter bekam eine andere Karte und fährt noch nach der vorigen.',
      wayOut: 'Wechseln Sie zum Hochfahren, wenn niemand nahe ist: die Kalibrierung nimmt die neue Karte.',
    },
    memory_lost: {
      title: 'sein Gedächtnis ist verloren',
      means: 'Sein Datenträger weiß nichts mehr: welche Geschichte er hatte und wer ihn gestoppt hatte.',
      wayOut: 'Finden Sie heraus, ob ihn jemand gestoppt hatte und warum. Heben Sie dann den Stopp lost-disk auf.',
    },
    not_persisted: {
      title: 'sein Stopp ist nicht gespeichert',
      means: 'Ein Stopp gilt am Roboter, doch sein Datenträger konnte ihn nicht speichern: ein Neustart beendet ihn.',
      wayOut: 'Starten Sie den Roboter nicht neu. Schaffen Sie Platz auf dem Datenträger, oder tauschen Sie ihn.',
    },
    disk_refuses: {
      title: 'sein Datenträger schreibt nicht',
      means:
        'Der Datenträger ist voll oder defekt. Der Roboter gehorcht Stopps und beginnt keinen Befehl, den er aufschreiben muss.',
      wayOut: 'Schaffen Sie Platz auf dem Datenträger des Roboters, oder tauschen Sie ihn.',
    },
    recorder_fails: {
      title: 'der Flugschreiber schreibt nicht',
      means: 'Was der Roboter jetzt tut, wird nicht aufgezeichnet. Er tritt auf wie sonst.',
      wayOut: 'Schaffen Sie Platz auf dem Datenträger des Roboters; sein Log sagt mehr.',
    },
    config_unreadable: {
      title: 'seine Einstellungen sind nicht lesbar',
      means: 'Die gespeicherten Einstellungen sind beschädigt; es gelten die strengsten.',
      wayOut: 'Ändern Sie eine Einstellung oder weisen Sie eine zu: fleetd veröffentlicht dann alle neu.',
    },
    not_in_database: {
      title: 'er hat etwas, das fleetd nicht kennt',
      means:
        'Geschichte, Aktivitäten, Orte, Einstellungen oder Modus fehlen in der Datenbank, etwa nach dem Einspielen einer älteren Kopie. Der Roboter behält sie.',
      wayOut: 'Weisen Sie es erneut zu, um es zu übernehmen, oder nehmen Sie es zurück. Der Hinweis nennt die Befehle.',
    },
    stop_not_held: {
      title: 'er hält einen Stopp nicht, der für ihn gilt',
      means: 'Laut Liste ist dieser Roboter angehalten. Er ist es nicht, etwa nach dem Einspielen einer älteren Kopie.',
      wayOut:
        'fleetd veröffentlicht den Stopp erneut, und der Roboter hält an. Heben Sie den Stopp auf, wenn er vorbei ist.',
    },
    content_damaged: {
      title: 'was er lädt, kommt beschädigt an',
      means:
        'Unterwegs ändert etwas die Bytes einer Geschichte, von Aktivitäten oder Orten. Was der Roboter vorher hatte, läuft weiter.',
      wayOut:
        'Der Roboter versucht es selbst wieder. Suchen Sie einen Proxy oder ein Portal; erneutes Zuweisen versucht es sofort.',
    },
    certificate_expiring: {
      title: 'sein Zertifikat endet bald',
      means: 'Der Roboter weist sich mit einem Zertifikat aus, das nicht erneuert wurde. Ohne es bleibt er getrennt.',
      wayOut: 'Prüfen Sie, ob der Roboter fleetd erreicht. Auf dem Roboter versucht robotd renew es sofort.',
    },
    untrusted_document: {
      title: 'etwas Zugewiesenes ist nicht richtig signiert',
      means: 'Der Roboter bekam etwas zugewiesen, dessen Signatur er nicht traut.',
      wayOut: 'Signieren Sie mit einem Schlüssel, dem er traut, oder suchen Sie, wer sonst zum Broker schreibt.',
    },
    equivocation: {
      title: 'zwei signierte Dokumente haben denselben Signaturzähler',
      means: 'Zwei verschiedene Inhalte wurden mit einem Zähler signiert. Jemand anderes hat vielleicht den Schlüssel.',
      wayOut: 'Klären Sie, welche Programme signieren und wo der Schlüssel liegt. Im Zweifel ersetzen Sie ihn.',
    },
    retained_command: {
      title: 'der Broker behält einen Befehl',
      means:
        'Ein Befehl wurde so gesendet, dass der Broker ihn bei jeder Verbindung wiederholt. Der Roboter lehnt ihn ab.',
      wayOut: 'fleetd entfernt ihn. Suchen Sie das Programm, das Befehle mit „retain“ sendet.',
    },
    messages_dropped: {
      title: 'der Broker verwirft seine Nachrichten',
      means: 'Manche Nachrichten des Roboters kommen nicht an; was Sie von ihm sehen, kann veraltet sein.',
      wayOut:
        'Ist die Quelle mqtt, sendet der Roboter zu viele Nachrichten: suchen Sie das Programm, das ihm zu viele Befehle sendet. Sonst lehnt der Broker das genannte Dokument ab: sehen Sie in das Log des Roboters.',
    },
    clock_differs: {
      title: 'die Uhr eines Servers weicht ab',
      means: 'Ein fleetd hat eine andere Zeit als die Flotte. Seine Befehle kommen vielleicht zu spät oder zu früh.',
      wayOut: 'Stellen Sie die Uhren aller Server nach derselben Quelle.',
    },
    duplicate_identity: {
      title: 'ein zweiter Roboter trägt seinen Namen',
      means: 'Zwei Clients verbinden sich unter diesem Namen und trennen einander.',
      wayOut:
        'Suchen Sie einen zweiten Roboter dieses Namens, etwa mit kopiertem Datenträger, und benennen Sie ihn um.',
    },
    presence_overwritten: {
      title: 'jemand anderes schreibt, ob er da ist',
      means: 'Ein anderer Client schrieb die Anwesenheit des Roboters.',
      wayOut: 'Suchen Sie einen zweiten Roboter dieses Namens.',
    },
    rollout_paused: {
      title: 'ein Rollout ist angehalten',
      means: 'Eine Welle des Rollouts ist gescheitert oder lässt sich nicht entscheiden; er wartet auf einen Menschen.',
      wayOut:
        'Sehen Sie seine Fehler an; dann rollen Sie ihn zurück, setzen ihn fort, bieten den Inhalt den gescheiterten Robotern noch einmal an oder brechen ihn ab.',
    },
    rollout_waits_for_approval: {
      title: 'ein Rollout wartet auf Genehmigung',
      means: 'Der Rollout erreicht so viele Roboter, dass ein zweiter Mensch ihn genehmigen muss.',
      wayOut: 'Jemand anderes als sein Autor, der genehmigen darf, sieht ihn an und genehmigt ihn.',
    },
    schedule_missed: {
      title: 'ein Zeitplan wurde versäumt',
      means: 'fleetd kam zu spät zu dem Zeitpunkt des Zeitplans, und nichts geschah.',
      wayOut:
        'Tun Sie selbst, was er getan hätte, wenn es noch gebraucht wird; der nächste Zeitpunkt beendet den Alarm.',
    },
    schedule_failed: {
      title: 'ein Zeitplan ist gescheitert',
      means: 'Was der Zeitplan tun sollte, wurde abgelehnt, und nichts geschah.',
      wayOut: 'Lesen Sie warum, berichtigen Sie den Zeitplan oder was er braucht, und speichern Sie ihn.',
    },
    stop_button_silent: {
      title: 'ein Stoppknopf antwortet nicht',
      means: 'Ein Stoppknopf sendet kein Lebenszeichen; er kann die Roboter vielleicht nicht stoppen.',
      wayOut:
        'Sehen Sie nach, ob er Strom und Netz hat, und probieren Sie ihn aus, wenn er wieder da ist. Stoppen Sie die Roboter bis dahin mit einem anderen Knopf oder hier.',
    },
    backup_old: {
      title: 'die neueste Sicherung ist alt',
      means: 'Seit der neuesten Sicherung der Datenbank ist zu viel Zeit vergangen, oder es gab nie eine.',
      wayOut:
        'Finden Sie auf dem Rechner von fleetd heraus, warum keine Sicherung angefertigt wird, oder fertigen Sie eine an. Die nächste Sicherung beendet diesen Alarm.',
    },
    rollback_incomplete: {
      title: 'ein Rollout ist nicht ganz zurückgerollt',
      means: 'Der Rollout wurde zurückgerollt, und einige Roboter haben nicht, was sie vorher hatten.',
      wayOut: 'Sehen Sie diese Roboter an, und rollen Sie ihn noch einmal zurück, oder weisen Sie ihnen etwas zu.',
    },
    robot_lost: {
      title: 'die Verbindung zu ihm ist verloren',
      means: 'Die Verbindung zum Roboter ist abgebrochen, oder es kommt kein Lebenszeichen von ihm.',
      wayOut: 'Sehen Sie nach, ob er Strom und Netz hat. Was er ohne Verbindung tut, sagen seine Einstellungen.',
    },
    robot_stopped: {
      title: 'er ist gestoppt, bis jemand den Stopp aufhebt',
      means: 'Jemand oder etwas hat den Roboter gestoppt, und er bleibt es, bis der Stopp aufgehoben wird.',
      wayOut:
        'Klären Sie, warum er gestoppt wurde. Ist es sicher, heben Sie den Stopp auf und geben die Bewegung frei.',
    },
  },
  {
    story_failing: {
      title: 'aucun acte de son histoire ne réussit',
      means: 'Au dernier tour, chaque acte de l’histoire a échoué. Le public voit peu de chose, ou rien.',
      wayOut: 'Réparez ce que nomme la dernière erreur, ou attribuez une histoire que ce robot sait jouer.',
    },
    ability_failed: {
      title: 'un petit mouvement échoue',
      means:
        'Une unité ne peut pas faire ce que le robot fait de lui-même entre les actes, comme cligner des yeux. L’histoire continue.',
      wayOut: 'Regardez l’unité et le journal de son adaptateur. Le robot essaie de nouveau de lui-même.',
    },
    mode_hung: {
      title: 'un mode s’est bloqué',
      means: 'Un mode ne répondait plus ; le programme du robot s’est donc terminé et a recommencé.',
      wayOut: 'Lisez le journal du robot. Passer dans ce mode l’essaie de nouveau.',
    },
    link_lost: {
      title: 'aucun signe de vie ne l’atteint',
      means:
        'Le robot ne reçoit aucun signe de vie de fleetd ni d’un pupitre à côté de lui ; personne ne pourrait l’arrêter à distance.',
      wayOut:
        'Vérifiez le réseau et si fleetd est en marche. L’alerte finit quand les signes de vie arrivent de nouveau.',
    },
    safeguard: {
      title: 'une protection l’immobilise',
      means: 'Quelqu’un pousse ou soulève le robot, ou il tombe. Rien ne bouge en lui.',
      wayOut: 'Occupez-vous du robot. Il continue de lui-même 3 s après que c’est fini.',
    },
    unit_error: {
      title: 'une unité qui bouge signale une erreur',
      means: 'L’erreur de cette unité a arrêté tout le robot.',
      wayOut: 'Réparez l’unité, puis réinitialisez le robot et autorisez le mouvement.',
    },
    device_critical: {
      title: 'une unité n’est pas sûre',
      means:
        'Une unité sans laquelle il ne doit pas bouger est en panne ou beaucoup trop chaude. Le robot est au repos.',
      wayOut:
        'Réparez l’unité et confirmez la panne, ou attendez qu’elle ait refroidi. Autorisez ensuite le mouvement.',
    },
    device_disabled: {
      title: 'une unité est hors service',
      means:
        'Une unité est en panne ou très chaude ; rien ne l’utilise. Les actions avec elle échouent, le reste continue.',
      wayOut: 'Regardez l’unité. Elle sert de nouveau quand sa panne a disparu.',
    },
    device_hot: {
      title: 'une unité est chaude',
      means: 'Une unité est plus chaude que d’habitude, et toujours en service.',
      wayOut:
        'Laissez-la refroidir : des mouvements plus courts ou plus rares, plus d’air. Si elle devient très chaude, le robot cesse de l’utiliser.',
    },
    device_late: {
      title: 'une unité est lente',
      means: 'Une unité n’a pas fini ses dernières commandes à temps.',
      wayOut: 'Regardez si elle est bloquée, ou si les délais des actes sont trop courts pour elle.',
    },
    help_asked: {
      title: 'quelqu’un demande de l’aide',
      means: 'Une personne devant le robot a demandé de l’aide.',
      wayOut:
        'Allez-y, puis confirmez : fleetd sys ack-fault ROBOT --source service. Le choix « Non, merci » à l’écran y met fin aussi.',
    },
    battery_low: {
      title: 'batterie faible',
      means: 'La batterie est au-dessous du réglage low_battery.',
      wayOut: 'Chargez le robot, sauf s’il va de lui-même à son chargeur.',
    },
    cannot_charge: {
      title: 'il ne peut pas se charger',
      means: 'Le robot n’arrive pas à son chargeur, ou ne s’y charge pas.',
      wayOut: 'Amenez-le au chargeur. L’interruption « power » lui fait essayer de nouveau.',
    },
    calibration_waits: {
      title: 'l’étalonnage attend',
      means: 'L’étalonnage bougerait une unité et attend d’en avoir le droit.',
      wayOut:
        'Assurez-vous que personne n’est près de lui, puis autorisez le mouvement. L’étalonnage continue de lui-même.',
    },
    calibration_failed: {
      title: 'l’étalonnage a échoué',
      means: 'Le robot n’a pas pu s’étalonner.',
      wayOut: 'Supprimez la cause qui est nommée, puis repassez en démarrage.',
    },
    map_pending: {
      title: 'une nouvelle carte attend',
      means: 'La carte des lieux attribués attend l’étalonnage.',
      wayOut: 'Quand personne n’est près de lui, passez en démarrage : l’étalonnage prend la nouvelle carte.',
    },
    memory_lost: {
      title: 'il a perdu la mémoire',
      means: 'Le robot a déjà servi, et son disque n’en sait plus rien : il garde l’arrêt lost-disk.',
      wayOut: 'Cherchez si quelqu’un l’avait arrêté, et pourquoi. Levez ensuite l’arrêt lost-disk.',
    },
    not_persisted: {
      title: 'son arrêt n’est pas enregistré',
      means: 'Le disque n’a pas les arrêts du robot : un redémarrage de son programme les perdrait.',
      wayOut: 'Ne redémarrez pas le robot. Faites de la place sur son disque, ou remplacez-le.',
    },
    disk_refuses: {
      title: 'son disque n’écrit pas',
      means:
        'Le disque du robot refuse d’écrire. Le robot obéit aux arrêts et ne commence aucune commande qu’il doit noter.',
      wayOut: 'Faites de la place sur le disque du robot, ou remplacez-le.',
    },
    recorder_fails: {
      title: 'son enregistreur n’écrit pas',
      means: 'L’enregistreur de vol ne peut pas écrire.',
      wayOut: 'Faites de la place sur le disque du robot ; son journal en dit plus.',
    },
    config_unreadable: {
      title: 'ses réglages ne sont pas lisibles',
      means:
        'Les réglages enregistrés ne peuvent pas être lus ; les plus stricts sont en vigueur jusqu’à ce qu’ils soient publiés de nouveau.',
      wayOut: 'Changez ou attribuez un réglage : fleetd les publie alors tous de nouveau.',
    },
    not_in_database: {
      title: 'il a quelque chose que fleetd ne connaît pas',
      means:
        'Le robot a une histoire, des activités, des lieux, des réglages ou un mode que la base de données de fleetd n’a pas, comme après la restauration d’une copie plus ancienne, ou qui viennent d’une autre flotte.',
      wayOut: 'Attribuez-le ou réglez-le de nouveau pour le garder, ou retirez-le. L’indication donne les commandes.',
    },
    stop_not_held: {
      title: 'il ne tient pas un arrêt qui vaut pour lui',
      means:
        'Un arrêt est en vigueur pour le robot, et le robot, qui est connecté, ne le signale pas. fleetd publie l’arrêt de nouveau, et le robot s’arrête.',
      wayOut: 'fleetd publie l’arrêt de nouveau et le robot s’arrête. Levez l’arrêt s’il n’a plus lieu d’être.',
    },
    content_damaged: {
      title: 'ce qu’il va chercher arrive abîmé',
      means:
        'Ce que le robot va chercher d’un contenu attribué est arrivé abîmé deux fois ou plus ; il essaie de nouveau, chaque fois après une attente plus longue.',
      wayOut:
        'Le robot essaie de nouveau de lui-même. Cherchez un proxy ou un portail entre lui et fleetd ; attribuer de nouveau essaie aussitôt.',
    },
    certificate_expiring: {
      title: 'son certificat finit bientôt',
      means: 'Le certificat du robot finit bientôt et n’a pas été renouvelé.',
      wayOut: 'Vérifiez que le robot atteint fleetd. Sur le robot, robotd renew essaie aussitôt.',
    },
    untrusted_document: {
      title: 'quelque chose d’attribué n’est pas signé comme il le faut',
      means:
        'La signature d’un document attribué n’est pas valable, ou les compteurs de signature enregistrés ne peuvent pas être lus.',
      wayOut: 'Signez avec une clé à laquelle le robot se fie, ou cherchez qui d’autre écrit au broker.',
    },
    equivocation: {
      title: 'deux documents signés ont le même compteur de signature',
      means: 'Deux documents attribués ont été signés sous un même compteur de signature.',
      wayOut: 'Cherchez quels programmes signent, et où est la clé. Remplacez la clé en cas de doute.',
    },
    retained_command: {
      title: 'le broker conserve une commande',
      means: 'Le broker conserve une commande, ce qui n’est pas permis.',
      wayOut: 'fleetd la retire. Trouvez le programme qui envoie des commandes à conserver (retain).',
    },
    messages_dropped: {
      title: 'le broker rejette ses messages',
      means: 'Le broker ne transmet pas des messages du robot.',
      wayOut:
        'Si la source est mqtt, le robot envoie trop de messages : trouvez le programme qui lui envoie trop de commandes. Sinon, le broker refuse le document qui est nommé : voyez le journal du robot.',
    },
    clock_differs: {
      title: 'l’horloge d’un serveur diffère',
      means: 'L’horloge d’une instance de fleetd diffère de l’heure de la flotte.',
      wayOut: 'Réglez les horloges de tous les serveurs sur la même source.',
    },
    duplicate_identity: {
      title: 'un second robot porte son nom',
      means: 'Un second client se connecte sous le nom du robot.',
      wayOut: 'Cherchez un second robot de ce nom, par exemple au disque copié, et donnez-lui le sien.',
    },
    presence_overwritten: {
      title: 'quelqu’un d’autre écrit s’il est là',
      means: 'Un autre client a écrit la présence du robot.',
      wayOut: 'Cherchez un second robot de ce nom.',
    },
    rollout_paused: {
      title: 'un déploiement est suspendu',
      means: 'Une vague d’un déploiement a échoué ou ne peut pas être décidée, et le déploiement attend quelqu’un.',
      wayOut:
        'Regardez ses échecs, puis revenez en arrière, reprenez-le, proposez de nouveau le contenu aux robots qui ont échoué, ou abandonnez-le.',
    },
    rollout_waits_for_approval: {
      title: 'un déploiement attend l’approbation',
      means: 'Un déploiement attend l’approbation d’une seconde personne.',
      wayOut: 'Quelqu’un d’autre que son auteur, qui a le droit d’approuver, le regarde et l’approuve.',
    },
    schedule_missed: {
      title: 'un horaire a été manqué',
      means: 'fleetd est venu trop tard pour le dernier instant de l’horaire, et rien ne s’est passé.',
      wayOut:
        'Faites vous-même ce qu’il aurait fait, si c’est encore utile ; l’instant suivant met fin à cette alerte.',
    },
    schedule_failed: {
      title: 'un horaire a échoué',
      means: 'Ce que l’horaire devait faire a été refusé, et rien ne s’est passé.',
      wayOut: 'Lisez pourquoi, corrigez l’horaire ou ce dont il a besoin, et enregistrez-le.',
    },
    stop_button_silent: {
      title: 'un bouton d’arrêt ne répond pas',
      means: 'Un bouton d’arrêt n’envoie aucun signe de vie ; il n’arrêtera peut-être pas les robots.',
      wayOut:
        'Regardez s’il a du courant et du réseau, et essayez-le quand il est revenu. D’ici là, arrêtez les robots avec un autre bouton ou ici.',
    },
    backup_old: {
      title: 'la dernière sauvegarde est ancienne',
      means: 'La dernière sauvegarde de la base de données est trop ancienne, ou il n’y en a jamais eu.',
      wayOut:
        'Sur l’ordinateur de fleetd, cherchez pourquoi aucune sauvegarde n’est faite, ou faites-en une. La prochaine sauvegarde met fin à cette alerte.',
    },
    rollback_incomplete: {
      title: 'un retour en arrière est incomplet',
      means: 'Un déploiement est revenu en arrière, et quelques robots n’ont pas ce qu’ils avaient avant.',
      wayOut: 'Regardez ces robots, et revenez encore en arrière, ou attribuez-leur quelque chose.',
    },
    robot_lost: {
      title: 'la connexion avec lui est perdue',
      means: 'La connexion au robot est rompue, ou aucun signe de vie n’arrive de lui.',
      wayOut: 'Regardez s’il a du courant et du réseau. Ses réglages disent ce qu’il fait sans liaison.',
    },
    robot_stopped: {
      title: 'il est arrêté jusqu’à ce que quelqu’un lève l’arrêt',
      means: 'Quelqu’un ou quelque chose a arrêté le robot, et il le reste jusqu’à ce que l’arrêt soit levé.',
      wayOut: 'Cherchez pourquoi il a été arrêté. Quand c’est sûr, levez l’arrêt, puis autorisez le mouvement.',
    },
  },
);

/** The name of an alert for people; one that is new is readable. */
export function alertTitle(words: Record<string, AlertWords>, type: string): string {
  return words[type]?.title ?? type.replaceAll('_', ' ');
}

/** What the robot says of an alert, and the way out that it names. */
const ownOfAlert = (a: { detail?: string; hint?: string }): string =>
  inButtons([a.detail, a.hint].filter(Boolean).join('; '));

/** What an alert says: by its parameters, or else what its type means. */
function meant(words: Record<string, AlertWords>, a: AlertFacts): string {
  const means = words[a.type]?.means;
  // The source of an alert of a unit is the unit; of another it is a word of the contract.
  const unit = /^(device_|unit_error|ability_failed)/.test(a.type) ? `${a.source}: ` : '';
  return alertSentence(a) || (means ? unit + means : '');
}

/** What an alert of a robot says in the language of the page: on an English page the robot's own sentence. */
export const alertSays = (
  words: Record<string, AlertWords>,
  a: AlertFacts & { detail?: string; hint?: string },
): string => saidText(meant(words, a), ownOfAlert(a));

/** What an alert means: in general, where the robot's own sentence beside it is of the page's language. */
export const alertMeans = (words: Record<string, AlertWords>, a: AlertFacts): string =>
  saidText(meant(words, a), words[a.type]?.means ?? '');

/** What the robot itself says of an alert, if alertSays says it in other words; empty otherwise. */
export function ownBeside(words: Record<string, AlertWords>, a: Parameters<typeof alertSays>[1]): string {
  const own = ownOfAlert(a);
  return alertSays(words, a) === own ? '' : own;
}
