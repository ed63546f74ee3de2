import { texts } from '../../text/language';

const robotsEN = (n: number) => (n === 1 ? '1 robot' : `${n} robots`);
const robotsDE = (n: number) => `${n} Roboter`;

export const useBulkTexts = texts(
  {
    mode: 'Set mode',
    pause: 'Pause',
    continue: 'Continue',
    enable: 'Enable',
    label: 'Label',
    assign: 'Assign…',
    stopOne: (robot: string) => `Stop ${robot} (software)`,
    stopHold: 'Stop (software), hold 1 s',
    stopEarly: (n?: number) =>
      `Nothing was stopped: hold for a second to stop ${n ? robotsEN(n) : 'the robots that are selected'}`,
    stopHelp:
      'Stops the selected robots until somebody releases the stop (latched). It is a message, not an emergency stop.',
    stopForbidden: 'You do not have the right to stop robots. Ask an operator.',
    stopWhy: 'Stop pressed for the selected robots in the console',
    commandForbidden: 'You do not have the right to send commands. Ask an operator.',
    labelForbidden: 'You do not have the right to change labels. Ask an administrator.',
    assignForbidden: 'You do not have the right to assign. Ask a releaser.',
    enableHelp: 'Enabled robots may move at once. Make sure that nobody is in their way.',
    checking: 'Asking fleetd what this would do',
    notChecked: 'fleetd did not say what this would do',
    willReach: (n: number) => `reaches ${robotsEN(n)}`,
    waiting: (n: number) =>
      n === 1
        ? '1 of them is not connected: the command expires unless it is back in time'
        : `${n} of them are not connected: the command expires unless they are back in time`,
    unchanged: (n: number) => `changes nothing for ${n} of them`,
    skips: (n: number) => `leaves out ${robotsEN(n)}`,
    why: 'Reason (for the audit)',
    typeNumber: (n: number) => `Type ${n} to confirm`,
    doIt: (n: number) => `Send to ${robotsEN(n)}`,
    accepted: (n: number) => `accepted for ${robotsEN(n)}`,
    answered: (n: number, of: number) => `${n} of ${of} have answered`,
    labelled: (n: number) => `Labels changed for ${robotsEN(n)}.`,
    allDone: (n: number) => (n === 1 ? 'done' : `done by ${n} robots`),
    someDone: (n: number, of: number) => `done by ${n} of ${of}`,
    follow: 'The answers cannot be read. Look in Commands.',
    leftOut: 'left out',
    cancel: 'Cancel',
    check: 'Look what it changes',
    labelKey: 'Key',
    labelKeyHelp: 'a to z, 0 to 9 and -, such as site',
    labelValue: 'Value',
    labelValueHelp: 'empty removes the label',
  },
  {
    mode: 'Modus setzen',
    pause: 'Pause',
    continue: 'Weiter',
    enable: 'Bewegung freigeben',
    label: 'Label',
    assign: 'Zuweisen…',
    stopOne: (robot: string) => `${robot} stoppen (Software)`,
    stopHold: 'Stopp (Software), 1 s halten',
    stopEarly: (n?: number) =>
      `Nichts wurde gestoppt: eine Sekunde halten, um ${n ? robotsDE(n) : 'die gewählten Roboter'} zu stoppen`,
    stopHelp:
      'Stoppt die gewählten Roboter, bis jemand den Stopp freigibt (latched). Es ist eine Nachricht, kein Not-Halt.',
    stopForbidden: 'Sie dürfen Roboter nicht stoppen. Fragen Sie einen Operator.',
    stopWhy: 'Stopp für die gewählten Roboter in der Konsole gedrückt',
    commandForbidden: 'Sie dürfen keine Befehle senden. Fragen Sie einen Operator.',
    labelForbidden: 'Sie dürfen Labels nicht ändern. Fragen Sie einen Administrator.',
    assignForbidden: 'Sie dürfen nicht zuweisen. Fragen Sie einen Releaser.',
    enableHelp:
      'Roboter mit freigegebener Bewegung dürfen sich sofort bewegen. Achten Sie darauf, dass niemand im Weg ist.',
    checking: 'Frage fleetd, was das täte',
    notChecked: 'fleetd sagt nicht, was das täte',
    willReach: (n: number) => `erreicht ${robotsDE(n)}`,
    waiting: (n: number) =>
      n === 1
        ? '1 davon ist nicht verbunden: der Befehl verfällt, wenn er nicht rechtzeitig zurück ist'
        : `${n} davon sind nicht verbunden: der Befehl verfällt, wenn sie nicht rechtzeitig zurück sind`,
    unchanged: (n: number) => `ändert bei ${n} davon nichts`,
    skips: (n: number) => `lässt ${robotsDE(n)} aus`,
    why: 'Grund (für das Protokoll)',
    typeNumber: (n: number) => `Zum Bestätigen ${n} eintippen`,
    doIt: (n: number) => `An ${robotsDE(n)} senden`,
    accepted: (n: number) => `angenommen für ${robotsDE(n)}`,
    answered: (n: number, of: number) => `${n} von ${of} haben geantwortet`,
    labelled: (n: number) => `Labels geändert bei ${robotsDE(n)}.`,
    allDone: (n: number) => (n === 1 ? 'erledigt' : `erledigt von ${n} Robotern`),
    someDone: (n: number, of: number) => `erledigt von ${n} von ${of}`,
    follow: 'Die Antworten sind nicht lesbar. Sehen Sie unter Befehle nach.',
    leftOut: 'ausgelassen',
    cancel: 'Abbrechen',
    check: 'Sehen, was sich ändert',
    labelKey: 'Schlüssel',
    labelKeyHelp: 'a bis z, 0 bis 9 und -, etwa site',
    labelValue: 'Wert',
    labelValueHelp: 'leer entfernt das Label',
  },
);
