import type { Robot } from '../../api/client';
import { texts } from '../../text/language';
import { clock } from '../../text/time';
import type { Stopper } from './stopper';
import { beforeMotion, type Step } from './wayOut';

/** The texts of the way out: what keeps a robot from performing, and what ends it. */
export const useWayOutTexts = texts(
  {
    performs: 'It performs.',
    anotherStory: 'Give it another story',
    title: 'It does not perform',
    because: 'Cause',
    next: 'Next',
    then: 'Then',
    steps: {
      connect: 'Bring it back: check its power and its network.',
      startAgain: 'Start it again at the robot.',
      broker: 'Bring the broker back: until then nobody knows here what the robot does. Look at the robot itself.',
      adopt: 'It is not part of this fleet yet.',
      report: 'It has not said yet what it does. This takes a few seconds after it connected.',
      stopInput: 'A stop input at the robot is pressed. Go to the robot, look why, and unlock it there.',
      wait: 'It is stopping. This takes a moment.',
      reset: 'Its units take no commands; motors may still hold with power.',
      resetAtRobot: 'A stop input was pressed at the robot. Press the reset button on its body; it does not move yet.',
      enable: 'Make sure that nobody is in its way, then let it move: it can move at once.',
      story: 'It has no story to perform.',
      start: 'Its story has ended or was stopped.',
      shutDown: (at: string) => `It was shut down at ${at}.`,
      noMode: (at: string) => `Its mode ended at ${at}, so that it stopped.`,
      release: (who: string, at: string, why: string) => `${who} stopped it at ${at}${why ? `: ${why}` : ''}.`,
      repair: (unit: string, fault: string, rests: boolean) =>
        `${unit}: ${fault}. ${rests ? 'It keeps the robot at rest' : 'It is not used'} until it is repaired.`,
      mode: (mode: string) => `It is ${mode}; it performs in automatic.`,
      continue: (who: string, why: string) => `${who} paused it${why ? `: ${why}` : ''}.`,
      resume: 'Its story waits after a stop or a lost connection, so that nothing moves by itself.',
      failing: (rounds: number, error: string, hint: string) =>
        `Every act of its story ends with an error${rounds > 1 ? `, ${rounds} rounds in a row` : ''}${error ? `: ${error}` : ''}.${hint ? ` What helps: ${hint}.` : ''}`,
      endsByItself: (detail: string) =>
        `It protects itself${detail ? `: ${detail}` : ''}. It goes on by itself when that is over.`,
    },
    /** What to do next, where the text of the step only says what happened. */
    todo: {
      adopt: 'Add it to the fleet.',
      reset: 'Reset it: this clears the errors of its units. It does not move yet.',
      story: 'Choose a story for it.',
      start: 'Start its story.',
      release: 'Make sure that it is safe, then release the stop.',
      mode: 'Switch it back to automatic: it goes on with its story.',
      continue: 'Continue when the reason for the pause is over.',
      resume: 'Make sure that nobody is in its way, then continue: it can move at once.',
    } as Record<string, string>,
    buttons: {
      adopt: 'Add to the fleet',
      reset: 'Reset',
      enable: 'Let it move',
      story: 'Choose a story',
      start: 'Start the story',
      release: 'Release…',
      repair: 'It is repaired',
      mode: 'Back to automatic',
      continue: 'Continue',
    },
    somebody: 'somebody',
    first: (step: string) => `possible after: ${step}`,
    enabled: 'it may move already',
    notPaused: 'nobody has paused it',
    isPaused: 'somebody has paused it already',
    names: {
      connect: 'connect it again',
      report: 'wait for its report',
      stopInput: 'unlock its stop input',
      resetAtRobot: 'reset it at the robot',
      wait: 'wait until it stands',
      failing: 'repair, or choose another story',
      endsByItself: 'wait until that is over',
    },
    notYet: (does: string, next: string) => `It does not perform yet: ${does}. Next: ${next}.`,
    performsNow: 'It performs.',
    mayDrive: 'It may move. Take control to drive it; “Back to automatic” goes on with its story.',
    driven: 'It may move, and can be driven. “Back to automatic” goes on with its story.',
    causes: { restarted: 'it was restarted', latched: 'a stop that is released now' } as Record<string, string>,
    otherMode: (term: string) => `mode ${term || '?'}`,
  },
  {
    performs: 'Er tritt auf.',
    anotherStory: 'Ihm eine andere Geschichte geben',
    title: 'Er tritt nicht auf',
    because: 'Ursache',
    next: 'Jetzt',
    then: 'Danach',
    steps: {
      connect: 'Bringen Sie ihn zurück: prüfen Sie Strom und Netz.',
      startAgain: 'Starten Sie ihn am Roboter wieder.',
      broker:
        'Bringen Sie den Broker zurück: bis dahin weiß hier niemand, was der Roboter tut. Sehen Sie beim Roboter selbst nach.',
      adopt: 'Er gehört noch nicht zu dieser Flotte.',
      report: 'Er hat seinen Zustand noch nicht gemeldet. Das dauert nach dem Verbinden einige Sekunden.',
      stopInput:
        'Ein Stopp-Eingang am Roboter ist gedrückt. Gehen Sie hin, sehen Sie nach, warum, und entriegeln Sie ihn dort.',
      wait: 'Er hält an. Das dauert einen Augenblick.',
      reset: 'Seine Einheiten nehmen keine Befehle an; Motoren können unter Strom halten.',
      resetAtRobot:
        'Am Roboter wurde ein Stopp-Eingang gedrückt. Drücken Sie die Reset-Taste an ihm; er bewegt sich noch nicht.',
      enable: 'Sehen Sie nach, dass niemand im Weg ist, und geben Sie die Bewegung frei: er kann sofort losfahren.',
      story: 'Er hat keine Geschichte.',
      start: 'Seine Geschichte ist zu Ende oder wurde beendet.',
      shutDown: (at: string) => `Er wurde um ${at} heruntergefahren.`,
      noMode: (at: string) => `Sein Modus endete um ${at}; deshalb hielt er an.`,
      release: (who: string, at: string, why: string) => `${who} hat ihn um ${at} gestoppt${why ? `: ${why}` : ''}.`,
      repair: (unit: string, fault: string, rests: boolean) =>
        `${unit}: ${fault}. ${rests ? 'Der Roboter ruht' : 'Niemand benutzt sie'}, bis das behoben ist.`,
      mode: (mode: string) => `Er ist: ${mode}; er tritt in der Automatik auf.`,
      continue: (who: string, why: string) => `Pause durch ${who}${why ? `: ${why}` : ''}.`,
      resume:
        'Seine Geschichte wartet nach einem Stopp oder einer verlorenen Verbindung, damit sich nichts von selbst bewegt.',
      failing: (rounds: number, error: string, hint: string) =>
        `Jeder Akt seiner Geschichte endet mit einem Fehler${rounds > 1 ? `, ${rounds} Runden in Folge` : ''}${error ? `: ${error}` : ''}.${hint ? ` Was hilft: ${hint}.` : ''}`,
      endsByItself: (detail: string) =>
        `Er schützt sich${detail ? `: ${detail}` : ''}. Er macht von selbst weiter, wenn das vorbei ist.`,
    },
    todo: {
      adopt: 'Nehmen Sie ihn in die Flotte auf.',
      reset: 'Setzen Sie ihn zurück: das löscht die Fehler seiner Einheiten. Er bewegt sich noch nicht.',
      story: 'Wählen Sie ihm eine Geschichte.',
      start: 'Starten Sie seine Geschichte.',
      release: 'Sehen Sie nach, dass es sicher ist, und heben Sie dann den Stopp auf.',
      mode: 'Bringen Sie ihn zurück in die Automatik: er macht mit seiner Geschichte weiter.',
      continue: 'Weiter, wenn der Grund der Pause vorbei ist.',
      resume: 'Sehen Sie nach, dass niemand im Weg ist, dann „Weiter“: er kann sofort losfahren.',
    } as Record<string, string>,
    buttons: {
      adopt: 'In die Flotte aufnehmen',
      reset: 'Zurücksetzen',
      enable: 'Bewegung freigeben',
      story: 'Geschichte wählen',
      start: 'Geschichte starten',
      release: 'Stopp aufheben…',
      repair: 'Es ist behoben',
      mode: 'Zurück in die Automatik',
      continue: 'Weiter',
    },
    somebody: 'jemand',
    first: (step: string) => `möglich nach: ${step}`,
    enabled: 'er darf sich schon bewegen',
    notPaused: 'niemand hat ihn pausiert',
    isPaused: 'jemand hat ihn schon pausiert',
    names: {
      connect: 'wieder verbinden',
      report: 'auf seine Meldung warten',
      stopInput: 'den Stopp-Eingang entriegeln',
      resetAtRobot: 'am Roboter zurücksetzen',
      wait: 'warten, bis er steht',
      failing: 'reparieren oder eine andere Geschichte wählen',
      endsByItself: 'warten, bis das vorbei ist',
    },
    notYet: (does: string, next: string) => `Er tritt noch nicht auf: ${does}. Jetzt: ${next}.`,
    performsNow: 'Er tritt auf.',
    mayDrive:
      'Er darf sich bewegen. Nehmen Sie die Kontrolle, um ihn zu fahren; mit „Zurück in die Automatik“ macht er mit seiner Geschichte weiter.',
    driven:
      'Er darf sich bewegen und kann gefahren werden. Mit „Zurück in die Automatik“ macht er mit seiner Geschichte weiter.',
    causes: { restarted: 'er wurde neu gestartet', latched: 'ein Stopp, der jetzt aufgehoben ist' } as Record<
      string,
      string
    >,
    otherMode: (term: string) => `Modus ${term || '?'}`,
  },
  {
    performs: 'Il joue.',
    anotherStory: 'Lui donner une autre histoire',
    title: 'Il ne joue pas',
    because: 'Cause',
    next: 'Maintenant',
    then: 'Ensuite',
    steps: {
      connect: 'Ramenez-le : vérifiez son courant et son réseau.',
      startAgain: 'Redémarrez-le sur le robot.',
      broker:
        'Remettez le broker en marche : jusque-là, personne ne sait ici ce que fait le robot. Regardez le robot lui-même.',
      adopt: 'Il ne fait pas encore partie de cette flotte.',
      report: 'Il n’a pas encore dit ce qu’il fait. Cela prend quelques secondes après sa connexion.',
      stopInput: 'Une entrée d’arrêt est enfoncée sur le robot. Allez voir pourquoi, et déverrouillez-la sur place.',
      wait: 'Il s’arrête. Cela prend un instant.',
      reset: 'Ses unités n’acceptent pas de commandes ; des moteurs peuvent tenir sous tension.',
      resetAtRobot:
        'Une entrée d’arrêt a été enfoncée sur le robot. Appuyez sur son bouton de réinitialisation ; il ne bouge pas encore.',
      enable: 'Assurez-vous que personne n’est sur son chemin, puis autorisez le mouvement : il peut bouger aussitôt.',
      story: 'Il n’a pas d’histoire à jouer.',
      start: 'Son histoire est finie ou a été arrêtée.',
      shutDown: (at) => `Il a été éteint à ${at}.`,
      noMode: (at) => `Son mode a pris fin à ${at}, et il s’est donc arrêté.`,
      release: (who, at, why) => `${who} l’a arrêté à ${at}${why ? ` : ${why}` : ''}.`,
      repair: (unit, fault, rests) =>
        `${unit} : ${fault}. ${rests ? 'Elle garde le robot au repos' : 'Elle n’est pas utilisée'} jusqu’à ce que ce soit réparé.`,
      mode: (mode) => `Il est : ${mode} ; il joue en automatique.`,
      continue: (who, why) => `${who} l’a mis en pause${why ? ` : ${why}` : ''}.`,
      resume: 'Son histoire attend après un arrêt ou une connexion perdue, pour que rien ne bouge de lui-même.',
      failing: (rounds, error, hint) =>
        `Chaque acte de son histoire finit par une erreur${rounds > 1 ? `, ${rounds} tours de suite` : ''}${error ? ` : ${error}` : ''}.${hint ? ` Ce qui aide : ${hint}.` : ''}`,
      endsByItself: (detail) =>
        `Il se protège${detail ? ` : ${detail}` : ''}. Il continue de lui-même quand c’est fini.`,
    },
    todo: {
      adopt: 'Ajoutez-le à la flotte.',
      reset: 'Réinitialisez-le : cela efface les erreurs de ses unités. Il ne bouge pas encore.',
      story: 'Choisissez-lui une histoire.',
      start: 'Démarrez son histoire.',
      release: 'Assurez-vous que c’est sans danger, puis levez l’arrêt.',
      mode: 'Repassez-le en automatique : il continue son histoire.',
      continue: 'Continuez quand la raison de la pause a disparu.',
      resume: 'Assurez-vous que personne n’est sur son chemin, puis continuez : il peut bouger aussitôt.',
    },
    buttons: {
      adopt: 'Ajouter à la flotte',
      reset: 'Réinitialiser',
      enable: 'Autoriser le mouvement',
      story: 'Choisir une histoire',
      start: 'Démarrer l’histoire',
      release: 'Lever l’arrêt…',
      repair: 'C’est réparé',
      mode: 'Retour à l’automatique',
      continue: 'Continuer',
    },
    somebody: 'quelqu’un',
    first: (step) => `possible après : ${step}`,
    enabled: 'il peut déjà bouger',
    notPaused: 'personne ne l’a mis en pause',
    isPaused: 'quelqu’un l’a déjà mis en pause',
    names: {
      connect: 'le reconnecter',
      report: 'attendre ce qu’il signale',
      stopInput: 'déverrouiller son entrée d’arrêt',
      resetAtRobot: 'le réinitialiser sur place',
      wait: 'attendre qu’il soit immobile',
      failing: 'réparer, ou choisir une autre histoire',
      endsByItself: 'attendre que ce soit fini',
    },
    notYet: (does, next) => `Il ne joue pas encore : ${does}. Maintenant : ${next}.`,
    performsNow: 'Il joue.',
    mayDrive:
      'Il peut bouger. Prenez le contrôle pour le conduire ; avec « Retour à l’automatique » il reprend son histoire.',
    driven: 'Il peut bouger, et être conduit. Avec « Retour à l’automatique » il reprend son histoire.',
    causes: { restarted: 'il a été redémarré', latched: 'un arrêt qui est levé maintenant' },
    otherMode: (term) => `mode ${term || '?'}`,
  },
);

/** Why a robot stopped, in words. */
export function stopperText(
  t: ReturnType<typeof useWayOutTexts>,
  { who, at, why, mode }: Stopper,
  robot: Robot,
): string {
  if (!mode) return t.steps.release(who || t.somebody, clock(at), why);
  return ['offline', 'sleeping'].includes(robot.presence.status)
    ? t.steps.shutDown(clock(at))
    : t.steps.noMode(clock(at));
}

/** Why a pause cannot be ended yet; empty if it can. */
export function whyNotContinue(
  t: ReturnType<typeof useWayOutTexts>,
  steps: readonly Step[],
  token: string | undefined,
): string {
  const first = token?.startsWith('operator') ? [] : beforeMotion(steps);
  return first.length > 0 ? t.first([...new Set(first.map((s) => stepName(t, s)))].join(', ')) : '';
}

/** The short name of a step, as its button has it. */
export function stepName(t: ReturnType<typeof useWayOutTexts>, step: Step): string {
  const all: Record<string, string> = { ...t.names, ...t.buttons };
  return (all[step.key] ?? step.key).replace('…', '');
}
