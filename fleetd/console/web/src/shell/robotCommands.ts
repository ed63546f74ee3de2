import type { Robot } from '../api/client';
import type { Verb } from '../contract';
import { robotName } from '../live/RobotName';
import { texts } from '../text/language';

/** A command that the palette offers for one robot. */
export interface RobotCommand {
  key: 'stop' | 'pause' | 'continue' | 'enable' | 'manual' | 'automatic';
  /** Its verb; the stop has none, since it is latched. */
  verb?: Verb;
  args?: Record<string, unknown>;
  right: 'stop' | 'command';
}

export const robotCommands: readonly RobotCommand[] = [
  { key: 'pause', verb: 'auto/pause', right: 'command' },
  { key: 'continue', verb: 'auto/continue', right: 'command' },
  { key: 'manual', verb: 'mode/set', args: { mode: 'mnl' }, right: 'command' },
  { key: 'automatic', verb: 'mode/set', args: { mode: 'ato' }, right: 'command' },
  { key: 'enable', verb: 'safety/enable', right: 'command' },
  { key: 'stop', right: 'stop' },
];

export const useRobotCommandTexts = texts(
  {
    any: {
      pause: 'Pause a robot…',
      continue: 'Continue a robot…',
      manual: 'Switch a robot to manual…',
      automatic: 'Switch a robot to automatic…',
      enable: 'Let a robot move…',
      stop: 'Stop a robot (software)…',
    },
    which: 'Which robot?',
    /** The words by whose beginning a command is meant. */
    verbs: {
      pause: 'pause',
      continue: 'continue',
      manual: 'switch manual',
      automatic: 'switch automatic',
      enable: 'let move',
      stop: 'stop',
    },
    pause: (robot: string) => `Pause ${robot}`,
    continue: (robot: string) => `Continue ${robot}`,
    manual: (robot: string) => `Switch ${robot} to manual`,
    automatic: (robot: string) => `Switch ${robot} to automatic`,
    enable: (robot: string) => `Let ${robot} move`,
    stop: (robot: string) => `Stop ${robot} (software)`,
    rights: { command: 'command robots', stop: 'stop robots' },
  },
  {
    any: {
      pause: 'Pause eines Roboters…',
      continue: 'Einen Roboter fortsetzen…',
      manual: 'Einen Roboter in den Handbetrieb…',
      automatic: 'Einen Roboter in die Automatik…',
      enable: 'Bewegung eines Roboters freigeben…',
      stop: 'Einen Roboter stoppen (Software)…',
    },
    which: 'Welcher Roboter?',
    verbs: {
      pause: 'pause',
      continue: 'fortsetzen',
      manual: 'handbetrieb',
      automatic: 'automatik',
      enable: 'bewegung freigeben',
      stop: 'stoppen',
    },
    pause: (robot: string) => `Pause von ${robot}`,
    continue: (robot: string) => `${robot} fortsetzen`,
    manual: (robot: string) => `${robot} in den Handbetrieb`,
    automatic: (robot: string) => `${robot} in die Automatik`,
    enable: (robot: string) => `Bewegung von ${robot} freigeben`,
    stop: (robot: string) => `${robot} stoppen (Software)`,
    rights: { command: 'Robotern Befehle zu geben', stop: 'Roboter zu stoppen' },
  },
  {
    any: {
      pause: 'Mettre un robot en pause…',
      continue: 'Continuer un robot…',
      manual: 'Passer un robot en manuel…',
      automatic: 'Passer un robot en automatique…',
      enable: 'Autoriser le mouvement d’un robot…',
      stop: 'Arrêter un robot (logiciel)…',
    },
    which: 'Quel robot ?',
    verbs: {
      pause: 'pause mettre en pause',
      continue: 'continuer',
      manual: 'passer manuel',
      automatic: 'passer automatique',
      enable: 'autoriser le mouvement',
      stop: 'arrêter',
    },
    pause: (robot) => `Mettre ${robot} en pause`,
    continue: (robot) => `Continuer ${robot}`,
    manual: (robot) => `Passer ${robot} en manuel`,
    automatic: (robot) => `Passer ${robot} en automatique`,
    enable: (robot) => `Autoriser le mouvement : ${robot}`,
    stop: (robot) => `Arrêter ${robot} (logiciel)`,
    rights: { command: 'commander les robots', stop: 'arrêter les robots' },
  },
);

/**
 * The robot that the words of a query mean: the one that they name, else the one of the page. The other words are
 * those that its commands are searched for. idOf gives the id of the robot that a text names.
 */
export function meantRobot(
  query: string,
  idOf: (text: string) => string | undefined,
  ofPage?: string,
): { robot?: string; words: string[] } {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  // A display name may have several words, and begin with another one.
  for (let length = words.length; length > 0; length--)
    for (let at = 0; at + length <= words.length; at++) {
      const robot = idOf(words.slice(at, at + length).join(' '));
      if (robot !== undefined) return { robot, words: [...words.slice(0, at), ...words.slice(at + length)] };
    }
  return { robot: ofPage, words };
}

/**
 * A function that finds a robot by its id, or by its display name in lower case. A name that several robots have finds
 * none of them: a command would reach one that nobody meant.
 */
export function finder(fleet: readonly Pick<Robot, 'id' | 'labels'>[]): (text: string) => string | undefined {
  const ids = new Set(fleet.map((r) => r.id));
  const named = new Map<string, string | undefined>();
  for (const r of fleet) {
    const name = robotName(r).toLowerCase().split(/\s+/).filter(Boolean).join(' ');
    named.set(name, named.has(name) ? undefined : r.id);
  }
  return (text) => (ids.has(text) ? text : named.get(text));
}

/**
 * Whether the words of a query begin a verb, so that commands come before pages and robots: three letters at least, so that Enter
 * after the first letter of a page's name commands nothing.
 */
export const namesVerb = (words: readonly string[], verbs: string): boolean =>
  words.some((w) => w.length >= 3 && verbs.split(' ').some((verb) => verb.startsWith(w)));
