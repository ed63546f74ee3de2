import { typeset } from '../../text/french';

/**
 * The sentences that fleetd writes about rollouts, as regular expressions, and the same in German and French. $1 stands for the first
 * group; a group can be a sentence of this list itself.
 */
const sentences: [english: string, german: string, french: string][] = [
  // A rollout.
  [
    'so many robots need a second person',
    'so viele Roboter brauchen eine zweite Person',
    'autant de robots demandent une seconde personne',
  ],
  ['nobody has to approve it', 'niemand muss zustimmen', 'personne n’a à l’approuver'],
  [
    'a second person approved exactly this content',
    'eine zweite Person hat genau diesem Inhalt zugestimmt',
    'une seconde personne a approuvé exactement ce contenu',
  ],
  ['a second person has to approve it', 'eine zweite Person muss zustimmen', 'une seconde personne doit l’approuver'],
  ['a person has to start it', 'jemand muss es starten', 'quelqu’un doit le démarrer'],
  ['its time has not come', 'seine Zeit ist noch nicht gekommen', 'son heure n’est pas venue'],
  ['its time has come', 'seine Zeit ist gekommen', 'son heure est venue'],
  ['it starts by itself at its time', 'es beginnt zu seiner Zeit von selbst', 'il commence de lui-même à son heure'],
  ['a person has to decide: (.*)', 'jemand muss entscheiden: $1', 'quelqu’un doit décider : $1'],
  ['the first wave begins', 'die erste Welle beginnt', 'la première vague commence'],
  [
    'no robot is offered the content until a person resumes it',
    'kein Roboter bekommt den Inhalt, bis jemand es fortsetzt',
    'aucun robot ne reçoit le contenu jusqu’à ce que quelqu’un le reprenne',
  ],
  [
    'a wave failed or cannot be decided: a person has to look',
    'eine Welle ist gescheitert oder nicht zu entscheiden: jemand muss nachsehen',
    'une vague a échoué ou ne peut pas être décidée : quelqu’un doit regarder',
  ],
  [
    'a person decided that it goes on',
    'jemand hat entschieden, dass es weitergeht',
    'quelqu’un a décidé qu’il continue',
  ],
  [
    'the failed robots are offered the content again',
    'die gescheiterten Roboter bekommen den Inhalt noch einmal',
    'le contenu est proposé de nouveau aux robots qui ont échoué',
  ],
  [
    'every robot is decided, and none failed',
    'jeder Roboter ist entschieden, keiner ist gescheitert',
    'chaque robot est décidé, aucun n’a échoué',
  ],
  [
    'every robot is decided, and some failed',
    'jeder Roboter ist entschieden, einige sind gescheitert',
    'chaque robot est décidé, certains ont échoué',
  ],
  [
    'every robot is decided, and 1 robot failed',
    'jeder Roboter ist entschieden, einer ist gescheitert',
    'chaque robot est décidé, 1 robot a échoué',
  ],
  [
    'every robot is decided, and (\\d+) robots failed',
    'jeder Roboter ist entschieden, $1 sind gescheitert',
    'chaque robot est décidé, $1 robots ont échoué',
  ],
  [
    'no robot is offered the content any more; what was offered stays',
    'kein Roboter bekommt den Inhalt mehr; wer ihn hat, behält ihn',
    'aucun robot ne reçoit plus le contenu ; ceux qui l’ont le gardent',
  ],
  [
    'each robot gets back what it had, failed ones first',
    'jeder Roboter bekommt zurück, was er hatte, gescheiterte zuerst',
    'chaque robot retrouve ce qu’il avait, ceux qui ont échoué d’abord',
  ],
  [
    'each robot that got the content has what it had before',
    'jeder Roboter, der den Inhalt bekam, hat wieder, was er vorher hatte',
    'chaque robot qui a reçu le contenu a de nouveau ce qu’il avait avant',
  ],
  [
    'some robots cannot have what they had before',
    'einige Roboter können nicht haben, was sie vorher hatten',
    'quelques robots ne peuvent pas retrouver ce qu’ils avaient avant',
  ],
  [
    '1 robot did not get back what they had: (.*)',
    '1 Roboter bekam nicht zurück, was er hatte: $1',
    '1 robot n’a pas retrouvé ce qu’il avait : $1',
  ],
  [
    '(\\d+) robots did not get back what they had: (.*)',
    '$1 Roboter bekamen nicht zurück, was sie hatten: $2',
    '$1 robots n’ont pas retrouvé ce qu’ils avaient : $2',
  ],
  [
    'robots that could not have what they had before are tried again',
    'Roboter, die nicht zurückbekamen, was sie hatten, werden noch einmal versucht',
    'les robots qui n’ont pas retrouvé ce qu’ils avaient sont essayés de nouveau',
  ],
  ['policy (\\S+) changed', 'die Regelung $1 wurde geändert', 'la règle $1 a changé'],
  [
    'policy (\\S+) says that it keeps what it has',
    'die Regelung $1 sagt, dass er behält, was er hat',
    'la règle $1 dit qu’il garde ce qu’il a',
  ],
  [
    'it waits for the next step of fleetd',
    'es wartet auf den nächsten Schritt von fleetd',
    'il attend la prochaine étape de fleetd',
  ],
  [
    'it waits for the soak of wave "(.*)"',
    'es wartet auf die Beobachtungszeit der Welle „$1“',
    'il attend la fin de l’observation de la vague « $1 »',
  ],
  [
    'it waits for 1 robot: (.*); and for the soak of wave "(.*)"',
    'es wartet auf 1 Roboter: $1; und auf die Beobachtungszeit der Welle „$2“',
    'il attend 1 robot : $1 ; et la fin de l’observation de la vague « $2 »',
  ],
  ['it waits for 1 robot: (.*)', 'es wartet auf 1 Roboter: $1', 'il attend 1 robot : $1'],
  [
    'it waits for (\\d+) robots: (.*); and for the soak of wave "(.*)"',
    'es wartet auf $1 Roboter: $2; und auf die Beobachtungszeit der Welle „$3“',
    'il attend $1 robots : $2 ; et la fin de l’observation de la vague « $3 »',
  ],
  ['it waits for (\\d+) robots: (.*)', 'es wartet auf $1 Roboter: $2', 'il attend $1 robots : $2'],
  ['1 to be offered the content(?:, (.+))?', '1 kommt noch an die Reihe, $1', '1 dont le tour vient, $1'],
  ['(\\d+) to be offered the content(?:, (.+))?', '$1 kommen noch an die Reihe, $2', '$1 dont le tour vient, $2'],
  ['1 offered the content(?:, (.+))?', '1 bekommt den Inhalt, $1', '1 qui reçoit le contenu, $1'],
  ['(\\d+) offered the content(?:, (.+))?', '$1 bekommen den Inhalt, $2', '$1 qui reçoivent le contenu, $2'],
  ['1 watched for the soak(?:, (.+))?', '1 wird beobachtet, $1', '1 en observation, $1'],
  ['(\\d+) watched for the soak(?:, (.+))?', '$1 werden beobachtet, $2', '$1 en observation, $2'],
  [
    '(\\d+) until a window, the end of the performance, or the next try(?:, (.+))?',
    '$1 bis zu einem Fenster, dem Ende der Aufführung oder dem nächsten Versuch, $2',
    '$1 jusqu’à une fenêtre, la fin de la représentation ou le prochain essai, $2',
  ],
  ['1 not reachable(?:, (.+))?', '1 nicht erreichbar, $1', '1 injoignable, $1'],
  ['(\\d+) not reachable(?:, (.+))?', '$1 nicht erreichbar, $2', '$1 injoignables, $2'],
  [
    '1 offered what they had before(?:, (.+))?',
    '1 bekommt zurück, was er hatte, $1',
    '1 qui retrouve ce qu’il avait, $1',
  ],
  [
    '(\\d+) offered what they had before(?:, (.+))?',
    '$1 bekommen zurück, was sie hatten, $2',
    '$1 qui retrouvent ce qu’ils avaient, $2',
  ],

  // A wave.
  ['wave "(.*)" failed: (.*)', 'die Welle „$1“ ist gescheitert: $2', 'la vague « $1 » a échoué : $2'],
  [
    'wave "(.*)" cannot be decided: (.*)',
    'die Welle „$1“ ist nicht zu entscheiden: $2',
    'la vague « $1 » ne peut pas être décidée : $2',
  ],
  ['wave "(.*)" passed: (.*)', 'die Welle „$1“ ist durch: $2', 'la vague « $1 » est passée : $2'],
  ['every wave before it has passed', 'jede Welle davor ist durch', 'chaque vague avant elle est passée'],
  ['it has no robot', 'sie hat keinen Roboter', 'elle n’a pas de robot'],
  [
    'enough of its reachable robots have the content; they are watched for the soak',
    'genug ihrer erreichbaren Roboter haben den Inhalt; sie werden beobachtet',
    'assez de ses robots joignables ont le contenu ; ils sont en observation',
  ],
  ['its gate is open', 'ihre Bedingungen sind erfüllt', 'ses conditions sont remplies'],
  ['every robot is decided', 'jeder Roboter ist entschieden', 'chaque robot est décidé'],
  [
    'too many of its robots failed, or they are worse off than the others; after it passed, too, because robots return late',
    'zu viele ihrer Roboter sind gescheitert, oder es geht ihnen schlechter als den anderen',
    'trop de ses robots ont échoué, ou ils vont moins bien que les autres',
  ],
  [
    'too few of its robots are decided to say more',
    'zu wenige ihrer Roboter sind entschieden',
    'trop peu de ses robots sont décidés pour en dire plus',
  ],
  [
    'a person looked at it, and lets it go on',
    'jemand hat nachgesehen und lässt sie weitergehen',
    'quelqu’un a regardé, et la laisse continuer',
  ],
  [
    'its failed robots are offered the content again',
    'ihre gescheiterten Roboter bekommen den Inhalt noch einmal',
    'le contenu est proposé de nouveau à ses robots qui ont échoué',
  ],
  [
    'the rollout ended before it was decided',
    'das Rollout endete, bevor sie entschieden war',
    'le déploiement a pris fin avant qu’elle soit décidée',
  ],
  [
    'the rollout ended before its turn',
    'das Rollout endete, bevor die Reihe an ihr war',
    'le déploiement a pris fin avant son tour',
  ],
  [
    '1 of its 1 decided robots failed, and at most (.*) may: (.*)',
    'ihr einziger entschiedener Roboter ist gescheitert, höchstens $1 dürfen es: $2',
    'son seul robot décidé a échoué, et $1 au plus le peuvent : $2',
  ],
  [
    '1 of its (\\d+) decided robots failed, and at most (.*) may: (.*)',
    '1 von $1 entschiedenen Robotern ist gescheitert, höchstens $2 dürfen es: $3',
    '1 de ses $1 robots décidés a échoué, et $2 au plus le peuvent : $3',
  ],
  [
    '(\\d+) of its (\\d+) decided robots failed, and at most (.*) may: (.*)',
    '$1 von $2 entschiedenen Robotern sind gescheitert, höchstens $3 dürfen es: $4',
    '$1 de ses $2 robots décidés ont échoué, et $3 au plus le peuvent : $4',
  ],
  [
    '1 of its 1 decided robots failed, and only (\\d+) decided robots would say that it failed: (.*)',
    'ihr einziger entschiedener Roboter ist gescheitert; erst $1 entschiedene würden zeigen, dass sie gescheitert ist: $2',
    'son seul robot décidé a échoué ; seuls $1 robots décidés diraient qu’elle a échoué : $2',
  ],
  [
    '1 of its (\\d+) decided robots failed, and only (\\d+) decided robots would say that it failed: (.*)',
    '1 von $1 entschiedenen Robotern ist gescheitert; erst $2 entschiedene würden zeigen, dass sie gescheitert ist: $3',
    '1 de ses $1 robots décidés a échoué ; seuls $2 robots décidés diraient qu’elle a échoué : $3',
  ],
  [
    '(\\d+) of its (\\d+) decided robots failed, and only (\\d+) decided robots would say that it failed: (.*)',
    '$1 von $2 entschiedenen Robotern sind gescheitert; erst $3 entschiedene würden zeigen, dass sie gescheitert ist: $4',
    '$1 de ses $2 robots décidés ont échoué ; seuls $3 robots décidés diraient qu’elle a échoué : $4',
  ],
  [
    '(.* %) of its reachable robots are confirmed, and the gate asks for (.*): (.*)',
    '$1 ihrer erreichbaren Roboter sind bestätigt, verlangt sind $2: $3',
    '$1 de ses robots joignables sont confirmés, et il en faut $2 : $3',
  ],
  [
    'its robots are worse off than the others: (.*)',
    'ihren Robotern geht es schlechter als den anderen: $1',
    'ses robots vont moins bien que les autres : $1',
  ],
  [
    'none of its robots got the content: (.*); so nothing is known about the robots of the next wave',
    'keiner ihrer Roboter bekam den Inhalt: $1; über die Roboter der nächsten Welle ist also nichts bekannt',
    'aucun de ses robots n’a reçu le contenu : $1 ; on ne sait donc rien des robots de la vague suivante',
  ],

  // Health.
  [
    'offline: (\\d+) of (\\d+), and (\\d+) of (\\d+) of the others',
    'offline: $1 von $2, von den anderen $3 von $4',
    'hors ligne : $1 sur $2, et $3 sur $4 des autres',
  ],
  [
    'with a critical alert: (\\d+) of (\\d+), and (\\d+) of (\\d+) of the others',
    'mit einer kritischen Warnung: $1 von $2, von den anderen $3 von $4',
    'avec une alerte critique : $1 sur $2, et $3 sur $4 des autres',
  ],
  [
    'with a latched stop: (\\d+) of (\\d+), and (\\d+) of (\\d+) of the others',
    'mit einem Stopp: $1 von $2, von den anderen $3 von $4',
    'avec un arrêt : $1 sur $2, et $3 sur $4 des autres',
  ],
  [
    'failed acts: (\\d+) of (\\d+), and (\\d+) of (\\d+) of the others',
    'gescheiterte Akte: $1 von $2, bei den anderen $3 von $4',
    'actes échoués : $1 sur $2, et $3 sur $4 chez les autres',
  ],
  [
    'interrupts for each robot: (\\d+) of (\\d+), and (\\d+) of (\\d+) of the others',
    'Unterbrechungen: $1 bei $2 Robotern, bei den anderen $3 bei $4',
    'interruptions : $1 chez $2 robots, et $3 chez $4 autres',
  ],

  // A robot.
  [
    'the plan says that it would refuse the content',
    'nach dem Plan würde er den Inhalt ablehnen',
    'd’après le plan, il refuserait le contenu',
  ],
  ['its turn has come', 'die Reihe ist an ihm', 'son tour est venu'],
  ['it has the content already', 'er hat den Inhalt schon', 'il a déjà le contenu'],
  ['a person pinned what it has', 'jemand hat festgehalten, was er hat', 'quelqu’un a figé ce qu’il a'],
  [
    'it has to wait for a window, for the end of its performance, or for the next try',
    'er wartet auf ein Fenster, das Ende seiner Aufführung oder den nächsten Versuch',
    'il attend une fenêtre, la fin de sa représentation ou le prochain essai',
  ],
  [
    'no maintenance window of its site opens',
    'an seinem Standort öffnet kein Wartungsfenster',
    'aucune fenêtre de maintenance de son site ne s’ouvre',
  ],
  [
    'it waits for the maintenance window of its site',
    'er wartet auf das Wartungsfenster seines Standorts',
    'il attend la fenêtre de maintenance de son site',
  ],
  [
    'it performs; only robots that do not perform are offered the content',
    'er führt auf; nur Roboter, die nicht aufführen, bekommen den Inhalt',
    'il joue ; seuls les robots qui ne jouent pas reçoivent le contenu',
  ],
  ['it is not reachable', 'er ist nicht erreichbar', 'il est injoignable'],
  [
    'it is not reachable; it is offered the content when it returns',
    'er ist nicht erreichbar und bekommt den Inhalt, wenn er wiederkommt',
    'il est injoignable ; il reçoit le contenu à son retour',
  ],
  [
    'it is not reachable; its desired document waits for it',
    'er ist nicht erreichbar; sein gewünschtes Dokument wartet auf ihn',
    'il est injoignable ; ce qui lui est attribué l’attend',
  ],
  [
    'it is not reachable; what it had before is its desired document, and waits for it',
    'er ist nicht erreichbar; was er vorher hatte, wartet auf ihn',
    'il est injoignable ; ce qu’il avait avant l’attend',
  ],
  [
    'it was not reachable when its turn came',
    'er war nicht erreichbar, als die Reihe an ihm war',
    'il était injoignable quand son tour est venu',
  ],
  [
    'it is back, and finds its desired document',
    'er ist wieder da und findet sein gewünschtes Dokument',
    'il est de retour et trouve ce qui lui est attribué',
  ],
  [
    'it reports again after fleetd gave up waiting, and is judged anew',
    'er meldet sich wieder, nachdem fleetd aufgegeben hatte, und wird neu beurteilt',
    'il se signale après que fleetd a cessé d’attendre, et est jugé de nouveau',
  ],
  [
    'it reports the content active, also after a failure, and is watched for the soak',
    'er meldet den Inhalt als aktiv und wird beobachtet',
    'il signale que le contenu est en service, et est en observation',
  ],
  ['it reports the content active', 'er meldet den Inhalt als aktiv', 'il signale que le contenu est en service'],
  [
    'it still reports the content active, a soak later',
    'er meldet den Inhalt auch nach der Beobachtung als aktiv',
    'il signale que le contenu est toujours en service après l’observation',
  ],
  [
    'it refuses the content, or a part of it',
    'er lehnt den Inhalt oder einen Teil davon ab',
    'il refuse le contenu, ou une partie',
  ],
  [
    'it could not fetch, save or activate the content, or is away although the rollout does not allow it',
    'er konnte den Inhalt nicht holen, speichern oder aktivieren, oder er fehlt, obwohl das Rollout das nicht erlaubt',
    'il n’a pas pu obtenir, enregistrer ou mettre en service le contenu, ou il est absent alors que le déploiement ne le permet pas',
  ],
  ['it went back to what it had', 'er ging zu dem zurück, was er hatte', 'il est revenu à ce qu’il avait'],
  ['it is online, and takes too long', 'er ist online und braucht zu lange', 'il est connecté, et met trop longtemps'],
  [
    'no heartbeat arrives after it began to activate the content',
    'kein Lebenszeichen kommt, seit er den Inhalt aktiviert',
    'aucun signe de vie n’arrive depuis qu’il met le contenu en service',
  ],
  [
    'no heartbeat arrived for (.*) while it activated the content',
    '$1 lang kam kein Lebenszeichen, während er den Inhalt aktivierte',
    'aucun signe de vie n’est arrivé pendant $1 alors qu’il mettait le contenu en service',
  ],
  [
    'no heartbeat arrived for (.*) after it activated the content',
    '$1 lang kam kein Lebenszeichen, nachdem er den Inhalt aktiviert hatte',
    'aucun signe de vie n’est arrivé pendant $1 après qu’il a mis le contenu en service',
  ],
  ['it stays away', 'er bleibt weg', 'il reste absent'],
  ['it signed off and stays away', 'er hat sich abgemeldet und bleibt weg', 'il s’est déconnecté et reste absent'],
  [
    'it was given something newer, which stays',
    'er bekam etwas Neueres, das bleibt',
    'il a reçu quelque chose de plus récent, qui reste',
  ],
  [
    'rollout (\\S+) gives it something newer',
    'Rollout $1 gibt ihm etwas Neueres',
    'le déploiement $1 lui donne quelque chose de plus récent',
  ],
  [
    'the rollout ended before its turn, or while it was away or waited',
    'das Rollout endete, bevor die Reihe an ihm war, oder während er fehlte oder wartete',
    'le déploiement a pris fin avant son tour, ou pendant qu’il était absent ou attendait',
  ],
  [
    'the rollout ended before it was decided; its desired document stays',
    'das Rollout endete, bevor er entschieden war; sein gewünschtes Dokument bleibt',
    'le déploiement a pris fin avant qu’il soit décidé ; ce qui lui est attribué reste',
  ],
  ['it left the fleet', 'er hat die Flotte verlassen', 'il a quitté la flotte'],
  [
    'a person offers it the content again',
    'jemand bietet ihm den Inhalt noch einmal an',
    'quelqu’un lui propose de nouveau le contenu',
  ],
  [
    'it got the content, and is assigned what it had before',
    'er bekam den Inhalt und bekommt, was er vorher hatte',
    'il a reçu le contenu, et ce qu’il avait avant lui est attribué',
  ],
  ['it reports what it had before', 'er meldet, was er vorher hatte', 'il signale ce qu’il avait avant'],
  [
    'it does not report what it had before, or cannot have it',
    'er meldet nicht, was er vorher hatte, oder kann es nicht haben',
    'il ne signale pas ce qu’il avait avant, ou ne peut pas l’avoir',
  ],
  [
    'it has what it had before, which takes over when it may',
    'er hat, was er vorher hatte; es wird aktiv, sobald es darf',
    'il a ce qu’il avait avant, qui prend la suite quand il le peut',
  ],
  [
    'what it had before is not known',
    'es ist nicht bekannt, was er vorher hatte',
    'on ne sait pas ce qu’il avait avant',
  ],
  ['it gave no reason', 'er nannte keinen Grund', 'il n’a pas donné de raison'],
  ['(it .*) within (\\S+) online(?:: (.+))?', '$1 (nach $2 online): $3', '$1 (après $2 de connexion) : $3'],
  ['it reported nothing about the offer', 'er meldete nichts zum Angebot', 'il n’a rien signalé à ce sujet'],
  [
    'it did not fetch and check the content',
    'er hat den Inhalt nicht geholt und geprüft',
    'il n’a pas obtenu et vérifié le contenu',
  ],
  ['it did not activate the content', 'er hat den Inhalt nicht aktiviert', 'il n’a pas mis le contenu en service'],
  [
    'it did not report what it had before',
    'er meldete nicht, was er vorher hatte',
    'il n’a pas signalé ce qu’il avait avant',
  ],
  [
    'it did not report the content active again, a soak later,',
    'er meldete den Inhalt nach der Beobachtung nicht noch einmal als aktiv',
    'il n’a pas signalé après l’observation que le contenu est toujours en service',
  ],
];

const patterns = sentences.map(([en, de, fr]) => [new RegExp(`^${en}$`, 's'), [de, typeset(fr)]] as const);

/** Translates a sentence of fleetd about a rollout. What a person or a robot wrote stays as it is. */
function translated(why: string, language: 0 | 1): string {
  for (const [pattern, others] of patterns) {
    const found = pattern.exec(why);
    if (found)
      return others[language]
        .replace(/(?:,|\s?:) \$(\d)$/, (part: string, n: string) => (found[Number(n)] === undefined ? '' : part))
        .replace(/\$(\d)/g, (_, n: string) => translated(found[Number(n)] ?? '', language));
  }
  return why;
}

export const inGerman = (why: string): string => translated(why, 0);
export const inFrench = (why: string): string => translated(why, 1);
