import type { Verb } from '../../contract';
import { useWhyNot } from '../robot/ActionButton';
import { usePage } from '../robot/page';
import type { Drive } from './drive';
import { useManualTexts } from './text';

/** Verbs that move a unit: they need ENABLED. The others also work while the robot may not move. */
const moves = /^manual\/(goto|head|head-motion)$/;

/** Why a manual command is not possible: no right, nobody there, no control, or the robot's state forbids it. */
export function useWhyNotManual(drive: Drive | undefined, verb: Verb | '' = ''): string {
  const t = useManualTexts();
  const { robot } = usePage();
  const general = useWhyNot('manual');
  if (general) return general;
  if (!drive) return t.needControl;
  if (robot.mode !== 'mnl') return t.needManual;
  if (!moves.test(verb) || robot.safety === 'ENABLED') return '';
  return robot.doing === 'waiting_for_release' ? t.stopLatched : t.needEnable;
}

/** Whether the robot takes a verb; true until that is known. */
export function useTakes(verb: Verb): boolean {
  const caps = usePage().detail?.caps;
  return !caps || caps.verbs.includes(verb);
}
