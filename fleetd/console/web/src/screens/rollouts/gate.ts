import type { Wave } from './types';
import { lengthOf } from './states';
import { useRolloutsTexts } from './text';

type Gate = Wave['gate'];

/** What the robots of a wave have to show before the next one begins. */
export function useGateText(): (g: Gate, single: boolean) => string {
  const t = useRolloutsTexts();
  return (g, single) => {
    if (single && g.success_percent === 0 && g.max_failure_percent >= 100) return t.noGate;
    return [
      t.gateOne(g.success_percent),
      t.gateFail(g.max_failure_percent),
      g.min_decided > 1 && t.gateDecided(g.min_decided),
      g.soak_s > 0 ? t.watchedFor(lengthOf(g.soak_s, t.units)) : t.notWatched,
    ]
      .filter(Boolean)
      .join('; ');
  };
}
