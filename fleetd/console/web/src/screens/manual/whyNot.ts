import { useWhyNot } from '../robot/Do';
import { usePage } from '../robot/page';
import type { Drive } from './drive';
import { useManualTexts } from './text';

/** Why a manual command is not possible: no right, nobody there, or no control. */
export function useWhyNotManual(drive: Drive | undefined, _verb?: string): string {
  const t = useManualTexts();
  const general = useWhyNot('manual');
  return general || (drive ? '' : t.needControl);
}

/** Whether the robot takes a verb; true until that is known. */
export function useTakes(verb: string): boolean {
  const caps = usePage().detail?.caps;
  return !caps || caps.verbs.includes(verb);
}
