import { settings, type SettingKey } from '../contract';
import { texts } from './language';
import { inPlainWords } from './plain';

/** What each setting of robots is for. */
export const useSettingPurposes = texts<Record<SettingKey, string>>(
  inPlainWords(settings),
  {
    labels: 'die Etiketten des Roboters; Stopps und andere Anfragen können Roboter danach auswählen',
    languages:
      'Sprachen, die der Roboter spricht, die liebste zuerst; Texte und Dauern von Akten hängen davon ab; Vorgabe en',
    time_zone:
      'die Zeitzone des Roboters mit ihrem IANA-Namen, etwa Europe/Berlin: danach gehen Stunde und Wochentag in Bedingungen und die Zeiten auf seiner eigenen Seite; Vorgabe die seines Rechners',
    boot_mode: 'der Modus nach dem Hochfahren; ein zugewiesener Modus geht vor; Vorgabe Handbetrieb',
    calibration_mode: 'der Modus, der beim Start von selbst läuft und den Roboter kalibriert; Vorgabe Hochfahren',
    default_mode:
      'der Modus, der einen ausgefallenen oder abgebrochenen ersetzt; nur einer, in den man immer wechseln kann, wie der Handbetrieb, und weder Hochfahren noch Automatik; Vorgabe Handbetrieb',
    safe_mode:
      'der Modus, in dem der Roboter auf eine Bedienperson wartet; nur einer, der nie etwas bewegt und in den man immer wechseln kann; Vorgabe safe',
    'link_loss.str': 'was das Hochfahren tut, wenn die Verbindung verloren ist; Vorgabe safe',
    'link_loss.mnl': 'was der Handbetrieb tut, wenn die Verbindung verloren ist; Vorgabe safe',
    'link_loss.ato': 'was die Automatik tut, wenn die Verbindung verloren ist; Vorgabe safe',
    'link_timeout_ms.str':
      'Zeit ohne Lebenszeichen von fleetd oder einem Bedienfeld am Roboter, nach der das Hochfahren endet, wenn es ohne Verbindung nicht weitermachen soll; Vorgabe 5000',
    'link_timeout_ms.mnl':
      'Zeit ohne Lebenszeichen von fleetd oder einem Bedienfeld am Roboter, nach der der Handbetrieb endet, wenn er ohne Verbindung nicht weitermachen soll; Vorgabe 5000',
    'link_timeout_ms.ato':
      'Zeit ohne Lebenszeichen von fleetd oder einem Bedienfeld am Roboter, nach der die Automatik endet, wenn sie ohne Verbindung nicht weitermachen soll; bewegt wird schon 5000 ms nach dem letzten Lebenszeichen nichts mehr; Vorgabe 60000',
    on_link_return:
      'was die Automatik tut, wenn die Verbindung zurück ist: auf „Weiter“ warten (wait) oder weitermachen (continue); Vorgabe wait',
    require_sight:
      'ob Freigeben und Zurücksetzen abgelehnt werden, wenn sie nicht das neueste Lebenszeichen nennen, das der Absender sah; Vorgabe false',
    'control.required':
      'wozu man die Kontrolle braucht: nur zum Fahren (none), zu allen Befehlen des Handbetriebs (manual), oder auch zum Wechsel des Modus (all); Vorgabe manual',
    clients:
      'Rang jedes Clients; er entscheidet, wessen Kontrolle ein anderer übernehmen darf; wer nicht genannt ist, ist operator',
    signing:
      'was der Roboter mit etwas Zugewiesenem tut, dessen Signatur nicht stimmt: ungeprüft annehmen (off), mit einem Alarm annehmen (warn) oder ablehnen (require); so ein Dokument kann diese Einstellung nicht lockern; Vorgabe off',
    probation_ms:
      'wie lange eine neue Geschichte zum Beginnen brauchen darf, bis die vorige sie ersetzt; Vorgabe 10000',
    low_battery:
      'Ladung der Batterie als Anteil von 1, unter der ein Roboter in der Automatik zum Laden fährt; Vorgabe 0.2',
    charged: 'Ladung der Batterie als Anteil von 1, bei der er genug geladen hat und weitermacht; Vorgabe 0.8',
    estop_text:
      'was der Roboter einmal sagt, wenn er bis zum Zurücksetzen gestoppt wird, nach Sprache; {} = nichts; Vorgabe ist ein Satz über die Ursache',
    'diagnosis.severity':
      'was ein Fehler jeder Einheit bedeutet; ohne Wert ist eine Batterie kritisch (critical) und jede andere Einheit ernst (serious)',
    'diagnosis.temperatures':
      'ab welchen Temperaturen jede Einheit warm, heiß und kritisch ist, in Grad Celsius; Vorgabe 45, 55 und 65 für eine Batterie, 60, 70 und 80 für andere Einheiten',
    safeguards:
      'welche Schutzfunktionen den Roboter festhalten; Vorgabe alle. Welche davon Aktivitäten beenden, sagt life/safeguard',
    'life.enabled':
      'ob ein Roboter in der Automatik lebt: Aktivitäten und kleine Bewegungen von selbst beginnt; wenn nicht, spielt er nur die Geschichte; Vorgabe true',
    'life.humans_lost_timeout_ms':
      'wie lange der Roboter niemanden sehen darf, bis er eine Aktivität mit Menschen beendet; 0 = er beendet sie nicht, die Vorgabe',
    heartbeat_ms: 'Abstand der Lebenszeichen des Roboters; Vorgabe 2000',
    event_rate:
      'Ereignisse je Sekunde; weitere werden weggelassen und gezählt, doch nie die der Sicherheit; Vorgabe 20',
    'interrupts.handlers':
      'Reaktionen neben denen des Roboters oder an Stelle von service oder attend: was eine Unterbrechung tut',
    'interrupts.rules': 'welche Signale des Körpers welche Reaktion verlangen, und in wessen Namen; die ganze Liste',
    intents:
      'was der Roboter auf eine verstandene Absicht tut: ein Akt, eine Aktivität, eine Unterbrechung oder ein Modus, und sein Gefühl danach; die ganze Tabelle',
    intent_confidence: 'Gewissheit, unter der eine Absicht nur veröffentlicht und sonst nichts getan wird; Vorgabe 0.5',
  },
  {
    labels: 'les étiquettes du robot ; les arrêts et d’autres demandes peuvent choisir des robots d’après elles',
    languages:
      'langues que parle le robot, la préférée d’abord ; les textes et les durées des actes en dépendent ; par défaut en',
    time_zone:
      'le fuseau horaire du robot par son nom IANA, comme Europe/Berlin : l’heure et le jour des conditions et les heures de sa propre page le suivent ; par défaut celui de son ordinateur',
    boot_mode: 'le mode après le démarrage ; un mode attribué passe avant ; par défaut manuel',
    calibration_mode: 'le mode qui a lieu de lui-même au démarrage et étalonne le robot ; par défaut démarrage',
    default_mode:
      'le mode qui remplace celui qui échoue ou est coupé ; seulement un mode où l’on peut toujours passer, comme manuel, et ni démarrage ni automatique ; par défaut manuel',
    safe_mode:
      'le mode où le robot attend un opérateur ; seulement un mode qui ne bouge jamais et où l’on peut toujours passer ; par défaut safe',
    'link_loss.str': 'ce que fait le démarrage quand la liaison est perdue ; par défaut safe',
    'link_loss.mnl': 'ce que fait le manuel quand la liaison est perdue ; par défaut safe',
    'link_loss.ato': 'ce que fait l’automatique quand la liaison est perdue ; par défaut safe',
    'link_timeout_ms.str':
      'temps sans signe de vie de fleetd ou d’un pupitre près du robot après lequel le démarrage finit, sauf s’il doit continuer sans liaison ; par défaut 5000',
    'link_timeout_ms.mnl':
      'temps sans signe de vie de fleetd ou d’un pupitre près du robot après lequel le manuel finit, sauf s’il doit continuer sans liaison ; par défaut 5000',
    'link_timeout_ms.ato':
      'temps sans signe de vie de fleetd ou d’un pupitre près du robot après lequel l’automatique finit, sauf s’il doit continuer sans liaison ; plus rien ne bouge déjà 5000 ms après le dernier signe de vie ; par défaut 60000',
    on_link_return:
      'ce que fait l’automatique quand la liaison est de retour : attendre « Continuer » (wait), ou continuer (continue) ; par défaut wait',
    require_sight:
      'si l’autorisation de bouger et la réinitialisation sont refusées quand elles ne nomment pas le dernier signe de vie que l’expéditeur a vu ; par défaut false',
    'control.required':
      'ce qui demande le contrôle : seulement conduire (none), toutes les commandes manuelles (manual), ou aussi changer de mode (all) ; par défaut manual',
    clients:
      'rang de chaque client, qui décide à qui un autre peut reprendre le contrôle ; un client qui n’est pas nommé est operator',
    signing:
      'ce que fait le robot d’un document attribué dont la signature n’est pas valable : l’accepter sans la vérifier (off), l’accepter avec une alerte (warn) ou le refuser (require) ; un tel document ne peut pas assouplir ce réglage ; par défaut off',
    probation_ms:
      'combien de temps une nouvelle histoire peut mettre à commencer avant que la précédente la remplace ; par défaut 10000',
    low_battery:
      'niveau de la batterie, en part de 1, au-dessous duquel un robot en automatique va se charger ; par défaut 0.2',
    charged: 'niveau de la batterie, en part de 1, auquel il est assez chargé et continue ; par défaut 0.8',
    estop_text:
      'ce que dit le robot une fois quand il est arrêté jusqu’à une réinitialisation, par langue ; {} = rien ; par défaut une phrase sur la cause',
    'diagnosis.severity':
      'ce que signifie une panne de chaque unité ; sans valeur, une batterie est critique (critical) et toute autre unité sérieuse (serious)',
    'diagnosis.temperatures':
      'à partir de quelles températures chaque unité est chaude, très chaude et critique, en degrés Celsius ; par défaut 45, 55 et 65 pour une batterie, 60, 70 et 80 pour les autres unités',
    safeguards:
      'quelles protections immobilisent le robot ; par défaut toutes. life/safeguard décide lesquelles mettent fin aux activités',
    'life.enabled':
      'si un robot en automatique vit : commence de lui-même des activités et de petits mouvements ; sinon, il ne joue que l’histoire ; par défaut true',
    'life.humans_lost_timeout_ms':
      'combien de temps le robot peut ne voir personne avant de mettre fin à une activité avec des gens ; 0 = il n’y met pas fin, la valeur par défaut',
    heartbeat_ms: 'intervalle des signes de vie du robot ; par défaut 2000',
    event_rate:
      'événements par seconde ; les autres sont omis et comptés, mais jamais ceux de la sécurité ; par défaut 20',
    'interrupts.handlers':
      'réactions en plus de celles du robot, ou à la place de service ou attend : ce que fait une interruption',
    'interrupts.rules': 'quels signaux du corps demandent quelle réaction, et au nom de qui ; toute la liste',
    intents:
      'ce que fait le robot d’une intention comprise : un acte, une activité, une interruption ou un mode, et son émotion ensuite ; tout le tableau',
    intent_confidence:
      'certitude au-dessous de laquelle une intention est publiée et rien d’autre n’est fait ; par défaut 0.5',
  },
);
