import { useEffect, useMemo } from 'react';
import { useMatch } from 'react-router';
import { create } from 'zustand';

import type { Robot } from '../api/client';
import { robots, useRobots } from '../live/robots';
import type { Whom } from './stopping';

interface Scope {
  /** The site whose robots the console shows and stops; empty = all. */
  site: string;
  choose: (site: string) => void;
}

/** The chosen site, kept for this tab. */
export const useScope = create<Scope>()((set) => ({
  site: sessionStorage.getItem('troupe.site') ?? '',
  choose: (site) => {
    sessionStorage.setItem('troupe.site', site);
    set({ site });
  },
}));

// A site that no robot has any more is chosen no longer: a stop of it would reach nobody, and without
// any site there is no choice on the page with which to leave it.
robots.subscribe(undefined, () => {
  const { site, choose } = useScope.getState();
  if (!site) return;
  const all = robots.everything();
  if (all.length > 0 && !all.some((r) => r.labels.site === site)) choose('');
});

/** The robots of the chosen site. */
export function useRobotsOfSite(): readonly Robot[] {
  const site = useScope((s) => s.site);
  const all = useRobots();
  return useMemo(() => (site ? all.filter((r) => r.labels.site === site) : all), [all, site]);
}

/** The robot whose page is open; undefined on other pages. */
export function useRobotOfPage(): string | undefined {
  return useMatch('/robots/:id/*')?.params.id;
}

const useShown = create<{ robot?: string }>()(() => ({}));

/** While this is drawn, the stop of the header means this robot, such as that of an open sheet. */
export function useStopMeans(robot: string | undefined): void {
  useEffect(() => {
    useShown.setState({ robot });
    return () => useShown.setState({ robot: undefined });
  }, [robot]);
}

/** The one robot that the stop of the header means; undefined if it means more. */
export function useRobotToStop(): string | undefined {
  const shown = useShown((s) => s.robot);
  return useRobotOfPage() ?? shown;
}

/** Whom the stop of the header means: the robot of the page or of what is open, else the chosen site, else all. */
export function useWhomToStop(): Whom {
  const robot = useRobotToStop();
  const site = useScope((s) => s.site);
  return robot ? { robot } : site ? { site } : 'all';
}
