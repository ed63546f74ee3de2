import { texts } from './language';
import { inWords, useTermWords } from './terms';

/** What stopped a robot, if it was no person: what it is called, by the word that the robot begins with. */
const useSources = texts(
  {
    unit: (id: string) => `unit ${id}`,
    input: (id: string) => `stop input ${id}`,
    mode: (mode: string) => `mode ${mode}`,
    latch: (id: string) => `stop ${id}`,
    disk: () => 'its disk',
    core: () => 'the robot itself',
    robotd: () => 'the robot’s program',
  },
  {
    unit: (id: string) => `Einheit ${id}`,
    input: (id: string) => `Stopp-Eingang ${id}`,
    mode: (mode: string) => `Modus ${mode}`,
    latch: (id: string) => `Stopp ${id}`,
    disk: () => 'sein Datenträger',
    core: () => 'der Roboter selbst',
    robotd: () => 'das Programm des Roboters',
  },
  {
    unit: (id: string) => `unité ${id}`,
    input: (id: string) => `entrée d’arrêt ${id}`,
    mode: (mode: string) => `mode ${mode}`,
    latch: (id: string) => `arrêt ${id}`,
    disk: () => 'son disque',
    core: () => 'le robot lui-même',
    robotd: () => 'le programme du robot',
  },
);

/** Who or what stopped a robot (latched_by), in words; a person's name and what is new stay as they are. */
export function sourceText(by: string): string {
  const [, kind = '', rest = ''] = /^(\w+)(?: (\S+))?$/.exec(by) ?? [];
  const said: Record<string, (id: string) => string> = useSources.now();
  if (!Object.hasOwn(said, kind) || !(rest || /^(disk|core|robotd)$/.test(kind))) return by;
  return said[kind]!(kind === 'mode' ? inWords(useTermWords.now().ModeID, rest) : rest);
}
