import { create } from 'zustand';

import { type Filter, type Selector, selectorOf } from './filter';

/** fleetd takes at most this many names in a selector. */
export const mostNames = 1000;

interface Selection {
  /** Ticked robots. */
  ids: ReadonlySet<string>;
  /** The filter whose robots are selected, all of them, also those that come to match it. */
  filter?: Filter;
  toggle: (id: string) => void;
  all: (f: Filter) => void;
  clear: () => void;
}

/** Which robots are selected for an action: by name if ticked, or by the filter. */
export const useSelection = create<Selection>()((set) => ({
  ids: new Set(),
  toggle: (id) =>
    set(({ ids, filter }) => {
      if (filter) return { ids: new Set<string>(), filter: undefined };
      const next = new Set(ids);
      if (!next.delete(id) && next.size < mostNames) next.add(id);
      return { ids: next };
    }),
  all: (filter) => set({ filter, ids: new Set() }),
  clear: () => set({ filter: undefined, ids: new Set() }),
}));

/** What an action is sent to; undefined if nothing is selected. */
export function selected(s: Pick<Selection, 'ids' | 'filter'>): Selector | undefined {
  if (s.filter) return selectorOf(s.filter);
  return s.ids.size > 0 ? { ids: [...s.ids] } : undefined;
}
