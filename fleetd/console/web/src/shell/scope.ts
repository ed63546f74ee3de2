import { useMatch } from 'react-router';
import { create } from 'zustand';

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

/** The robot whose page is open; undefined on other pages. */
export function useRobotOfPage(): string | undefined {
  return useMatch('/robots/:id/*')?.params.id;
}

/** Whom the stop of the header means: the robot of the page, else the chosen site, else all. */
export function useWhomToStop(): Whom {
  const robot = useRobotOfPage();
  const site = useScope((s) => s.site);
  return robot ? { robot } : site ? { site } : 'all';
}
