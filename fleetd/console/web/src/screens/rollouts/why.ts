/**
 * The sentences that fleetd writes about rollouts, as regular expressions, and the same in German. $1 stands for the first
 * group; a group can be a sentence of this list itself.
 */
const german: [string, string][] = [
  // A rollout.
  ['so many robots need a second person', 'so viele Roboter brauchen eine zweite Person'],
  ['nobody has to approve it', 'niemand muss zustimmen'],
  ['a second person approved exactly this content', 'eine zweite Person hat genau diesem Inhalt zugestimmt'],
  ['a second person has to approve it', 'eine zweite Person muss zustimmen'],
  ['a person has to start it', 'jemand muss es starten'],
  ['its time has not come', 'seine Zeit ist noch nicht gekommen'],
  ['its time has come', 'seine Zeit ist gekommen'],
  ['it starts by itself at its time', 'es beginnt zu seiner Zeit von selbst'],
  ['a person has to decide: (.*)', 'jemand muss entscheiden: $1'],
  ['the first wave begins', 'die erste Welle beginnt'],
  [
    'no robot is offered the content until a person resumes it',
    'kein Roboter bekommt den Inhalt, bis jemand es fortsetzt',
  ],
  [
    'a wave failed or cannot be decided: a person has to look',
    'eine Welle ist gescheitert oder nicht zu entscheiden: jemand muss nachsehen',
  ],
  ['a person decided that it goes on', 'jemand hat entschieden, dass es weitergeht'],
  ['the failed robots are offered the content again', 'die gescheiterten Roboter bekommen den Inhalt noch einmal'],
  ['every robot is decided, and none failed', 'jeder Roboter ist entschieden, keiner ist gescheitert'],
  ['every robot is decided, and some failed', 'jeder Roboter ist entschieden, einige sind gescheitert'],
  ['every robot is decided, and 1 robot failed', 'jeder Roboter ist entschieden, einer ist gescheitert'],
  ['every robot is decided, and (\\d+) robots failed', 'jeder Roboter ist entschieden, $1 sind gescheitert'],
  [
    'no robot is offered the content any more; what was offered stays',
    'kein Roboter bekommt den Inhalt mehr; wer ihn hat, behält ihn',
  ],
  [
    'each robot gets back what it had, failed ones first',
    'jeder Roboter bekommt zurück, was er hatte, gescheiterte zuerst',
  ],
  [
    'each robot that got the content has what it had before',
    'jeder Roboter, der den Inhalt bekam, hat wieder, was er vorher hatte',
  ],
  ['some robots cannot have what they had before', 'einige Roboter können nicht haben, was sie vorher hatten'],
  ['1 robot did not get back what they had: (.*)', '1 Roboter bekam nicht zurück, was er hatte: $1'],
  ['(\\d+) robots did not get back what they had: (.*)', '$1 Roboter bekamen nicht zurück, was sie hatten: $2'],
  [
    'robots that could not have what they had before are tried again',
    'Roboter, die nicht zurückbekamen, was sie hatten, werden noch einmal versucht',
  ],
  ['policy (\\S+) changed', 'die Regelung $1 wurde geändert'],
  ['policy (\\S+) says that it keeps what it has', 'die Regelung $1 sagt, dass er behält, was er hat'],
  ['it waits for the next step of fleetd', 'es wartet auf den nächsten Schritt von fleetd'],
  ['it waits for the soak of wave "(.*)"', 'es wartet auf die Beobachtungszeit der Welle „$1“'],
  [
    'it waits for (\\d+) robots?: (.*); and for the soak of wave "(.*)"',
    'es wartet auf $1 Roboter: $2; und auf die Beobachtungszeit der Welle „$3“',
  ],
  ['it waits for (\\d+) robots?: (.*)', 'es wartet auf $1 Roboter: $2'],
  ['(\\d+) to be offered the content(?:, (.+))?', '$1 kommen noch an die Reihe, $2'],
  ['(\\d+) offered the content(?:, (.+))?', '$1 bekommen den Inhalt, $2'],
  ['(\\d+) watched for the soak(?:, (.+))?', '$1 werden beobachtet, $2'],
  [
    '(\\d+) until a window, the end of the performance, or the next try(?:, (.+))?',
    '$1 bis zu einem Fenster, dem Ende der Aufführung oder dem nächsten Versuch, $2',
  ],
  ['(\\d+) not reachable(?:, (.+))?', '$1 nicht erreichbar, $2'],
  ['(\\d+) offered what they had before(?:, (.+))?', '$1 bekommen zurück, was sie hatten, $2'],

  // A wave.
  ['wave "(.*)" failed: (.*)', 'die Welle „$1“ ist gescheitert: $2'],
  ['wave "(.*)" cannot be decided: (.*)', 'die Welle „$1“ ist nicht zu entscheiden: $2'],
  ['wave "(.*)" passed: (.*)', 'die Welle „$1“ ist durch: $2'],
  ['every wave before it has passed', 'jede Welle davor ist durch'],
  ['it has no robot', 'sie hat keinen Roboter'],
  [
    'enough of its reachable robots have the content; they are watched for the soak',
    'genug ihrer erreichbaren Roboter haben den Inhalt; sie werden beobachtet',
  ],
  ['its gate is open', 'ihre Bedingungen sind erfüllt'],
  ['every robot is decided', 'jeder Roboter ist entschieden'],
  [
    'too many of its robots failed, or they are worse off than the others; after it passed, too, because robots return late',
    'zu viele ihrer Roboter sind gescheitert, oder es geht ihnen schlechter als den anderen',
  ],
  ['too few of its robots are decided to say more', 'zu wenige ihrer Roboter sind entschieden'],
  ['a person looked at it, and lets it go on', 'jemand hat nachgesehen und lässt sie weitergehen'],
  ['its failed robots are offered the content again', 'ihre gescheiterten Roboter bekommen den Inhalt noch einmal'],
  ['the rollout ended before it was decided', 'das Rollout endete, bevor sie entschieden war'],
  ['the rollout ended before its turn', 'das Rollout endete, bevor die Reihe an ihr war'],
  [
    '(\\d+) of its (\\d+) decided robots failed, and at most (.*) may: (.*)',
    '$1 von $2 entschiedenen Robotern sind gescheitert, höchstens $3 dürfen es: $4',
  ],
  [
    '(\\d+) of its (\\d+) decided robots failed, and only (\\d+) decided robots would say that it failed: (.*)',
    '$1 von $2 entschiedenen Robotern sind gescheitert; erst $3 entschiedene würden zeigen, dass sie gescheitert ist: $4',
  ],
  [
    '(.* %) of its reachable robots are confirmed, and the gate asks for (.*): (.*)',
    '$1 ihrer erreichbaren Roboter sind bestätigt, verlangt sind $2: $3',
  ],
  ['its robots are worse off than the others: (.*)', 'ihren Robotern geht es schlechter als den anderen: $1'],
  [
    'none of its robots got the content: (.*); so nothing is known about the robots of the next wave',
    'keiner ihrer Roboter bekam den Inhalt: $1; über die Roboter der nächsten Welle ist also nichts bekannt',
  ],

  // Health.
  ['offline: (\\d+) of (\\d+), and (\\d+) of (\\d+) of the others', 'offline: $1 von $2, von den anderen $3 von $4'],
  [
    'with a critical alert: (\\d+) of (\\d+), and (\\d+) of (\\d+) of the others',
    'mit einer kritischen Warnung: $1 von $2, von den anderen $3 von $4',
  ],
  [
    'with a latched stop: (\\d+) of (\\d+), and (\\d+) of (\\d+) of the others',
    'mit einem Stopp: $1 von $2, von den anderen $3 von $4',
  ],
  [
    'failed acts: (\\d+) of (\\d+), and (\\d+) of (\\d+) of the others',
    'gescheiterte Akte: $1 von $2, bei den anderen $3 von $4',
  ],
  [
    'interrupts for each robot: (\\d+) of (\\d+), and (\\d+) of (\\d+) of the others',
    'Unterbrechungen: $1 bei $2 Robotern, bei den anderen $3 bei $4',
  ],

  // A robot.
  ['the plan says that it would refuse the content', 'nach dem Plan würde er den Inhalt ablehnen'],
  ['its turn has come', 'die Reihe ist an ihm'],
  ['it has the content already', 'er hat den Inhalt schon'],
  ['a person pinned what it has', 'jemand hat festgehalten, was er hat'],
  [
    'it has to wait for a window, for the end of its performance, or for the next try',
    'er wartet auf ein Fenster, das Ende seiner Aufführung oder den nächsten Versuch',
  ],
  ['no maintenance window of its site opens', 'an seinem Standort öffnet kein Wartungsfenster'],
  ['it waits for the maintenance window of its site', 'er wartet auf das Wartungsfenster seines Standorts'],
  [
    'it performs; only robots that do not perform are offered the content',
    'er führt auf; nur Roboter, die nicht aufführen, bekommen den Inhalt',
  ],
  ['it is not reachable', 'er ist nicht erreichbar'],
  [
    'it is not reachable; it is offered the content when it returns',
    'er ist nicht erreichbar und bekommt den Inhalt, wenn er wiederkommt',
  ],
  [
    'it is not reachable; its desired document waits for it',
    'er ist nicht erreichbar; sein gewünschtes Dokument wartet auf ihn',
  ],
  [
    'it is not reachable; what it had before is its desired document, and waits for it',
    'er ist nicht erreichbar; was er vorher hatte, wartet auf ihn',
  ],
  ['it was not reachable when its turn came', 'er war nicht erreichbar, als die Reihe an ihm war'],
  ['it is back, and finds its desired document', 'er ist wieder da und findet sein gewünschtes Dokument'],
  [
    'it reports again after fleetd gave up waiting, and is judged anew',
    'er meldet sich wieder, nachdem fleetd aufgegeben hatte, und wird neu beurteilt',
  ],
  [
    'it reports the content active, also after a failure, and is watched for the soak',
    'er meldet den Inhalt als aktiv und wird beobachtet',
  ],
  ['it reports the content active', 'er meldet den Inhalt als aktiv'],
  ['it still reports the content active, a soak later', 'er meldet den Inhalt auch nach der Beobachtung als aktiv'],
  ['it refuses the content, or a part of it', 'er lehnt den Inhalt oder einen Teil davon ab'],
  [
    'it could not fetch, save or activate the content, or is away although the rollout does not allow it',
    'er konnte den Inhalt nicht holen, speichern oder aktivieren, oder er fehlt, obwohl das Rollout das nicht erlaubt',
  ],
  ['it went back to what it had', 'er ging zu dem zurück, was er hatte'],
  ['it is online, and takes too long', 'er ist online und braucht zu lange'],
  [
    'no heartbeat arrives after it began to activate the content',
    'kein Lebenszeichen kommt, seit er den Inhalt aktiviert',
  ],
  [
    'no heartbeat arrived for (.*) while it activated the content',
    '$1 lang kam kein Lebenszeichen, während er den Inhalt aktivierte',
  ],
  [
    'no heartbeat arrived for (.*) after it activated the content',
    '$1 lang kam kein Lebenszeichen, nachdem er den Inhalt aktiviert hatte',
  ],
  ['it stays away', 'er bleibt weg'],
  ['it signed off and stays away', 'er hat sich abgemeldet und bleibt weg'],
  ['it was given something newer, which stays', 'er bekam etwas Neueres, das bleibt'],
  ['rollout (\\S+) gives it something newer', 'Rollout $1 gibt ihm etwas Neueres'],
  [
    'the rollout ended before its turn, or while it was away or waited',
    'das Rollout endete, bevor die Reihe an ihm war, oder während er fehlte oder wartete',
  ],
  [
    'the rollout ended before it was decided; its desired document stays',
    'das Rollout endete, bevor er entschieden war; sein gewünschtes Dokument bleibt',
  ],
  ['it left the fleet', 'er hat die Flotte verlassen'],
  ['a person offers it the content again', 'jemand bietet ihm den Inhalt noch einmal an'],
  ['it got the content, and is assigned what it had before', 'er bekam den Inhalt und bekommt, was er vorher hatte'],
  ['it reports what it had before', 'er meldet, was er vorher hatte'],
  [
    'it does not report what it had before, or cannot have it',
    'er meldet nicht, was er vorher hatte, oder kann es nicht haben',
  ],
  [
    'it has what it had before, which takes over when it may',
    'er hat, was er vorher hatte; es wird aktiv, sobald es darf',
  ],
  ['what it had before is not known', 'es ist nicht bekannt, was er vorher hatte'],
  ['it gave no reason', 'er nannte keinen Grund'],
  ['(it .*) within (\\S+) online(?:: (.+))?', '$1 (nach $2 online): $3'],
  ['it reported nothing about the offer', 'er meldete nichts zum Angebot'],
  ['it did not fetch and check the content', 'er hat den Inhalt nicht geholt und geprüft'],
  ['it did not activate the content', 'er hat den Inhalt nicht aktiviert'],
  ['it did not report what it had before', 'er meldete nicht, was er vorher hatte'],
  [
    'it did not report the content active again, a soak later,',
    'er meldete den Inhalt nach der Beobachtung nicht noch einmal als aktiv',
  ],
];

const patterns = german.map(([en, de]) => [new RegExp(`^${en}$`, 's'), de] as const);

/** Translates a sentence of fleetd about a rollout into German. What a person or a robot wrote stays as it is. */
export function inGerman(why: string): string {
  for (const [pattern, de] of patterns) {
    const found = pattern.exec(why);
    if (found)
      return de
        .replace(/[,:] \$(\d)$/, (part: string, n: string) => (found[Number(n)] === undefined ? '' : part))
        .replace(/\$(\d)/g, (_, n: string) => inGerman(found[Number(n)] ?? ''));
  }
  return why;
}
