import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react';

import { robots } from '../../live/robots';
import { type Filter, matcher } from './filter';
import { moved, Order, type Sorting } from './order';

/** ms between two orders while robots change. */
const every = 500;

export interface Listed {
  /** The ids of the rows in their order; the same array until it changes. */
  ids: readonly string[];
  /** How many robots match now. */
  matching: number;
  /** How many robots there are. */
  total: number;
  /** How many rows would move; 0 unless the order is frozen. */
  moved: number;
}

/** Values to choose from in filters. */
export interface Facets {
  sites: string[];
  labels: string[];
  modes: string[];
  stories: string[];
}

/**
 * The list of robots outside of React: it is put in order again at most twice a second, not with each
 * change of a robot, and draws only if something moved.
 */
class List {
  private readonly order = new Order();
  private readonly listeners = new Set<() => void>();
  private matches: ReturnType<typeof matcher> = () => true;
  private sorting: Sorting = { column: 'problems', desc: false };
  private ranks: ReadonlyMap<string, number> = new Map();
  private timer: number | undefined;
  private frozen = false;
  private stop?: () => void;
  listed: Listed = { ids: [], matching: 0, total: 0, moved: 0 };

  subscribe = (tell: () => void): (() => void) => {
    this.listeners.add(tell);
    this.stop ??= robots.subscribe(undefined, this.later);
    return () => {
      this.listeners.delete(tell);
      if (this.listeners.size > 0) return;
      this.stop?.();
      this.stop = undefined;
      clearTimeout(this.timer);
      this.timer = undefined;
    };
  };

  /** Shows other robots or another order: at once, frozen or not. */
  show(f: Filter, sorting: Sorting): void {
    this.matches = matcher(f);
    this.sorting = sorting;
    this.recompute(true);
  }

  freeze(frozen: boolean): void {
    this.frozen = frozen;
    if (!frozen && this.listed.moved > 0) this.refresh();
  }

  refresh = (): void => {
    this.recompute(true);
    this.tell();
  };

  private later = (): void => {
    // The first robots are shown at once.
    if (this.listed.total === 0) return this.tick();
    this.timer ??= window.setTimeout(this.tick, every);
  };

  private tick = (): void => {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.recompute(!this.frozen)) this.tell();
  };

  /** Puts the rows in order again; without `show` only the counts change. Reports whether anything did. */
  private recompute(show: boolean): boolean {
    const all = robots.everything();
    const { ids, ranks } = this.order.of(all, this.matches, this.sorting);
    const before = this.listed;
    const first = before.ids.length === 0;
    if (show || first) {
      const same = ids.length === before.ids.length && ids.every((id, i) => id === before.ids[i]);
      this.ranks = ranks;
      this.listed = { ids: same ? before.ids : ids, matching: ids.length, total: all.length, moved: 0 };
    } else {
      this.listed = { ids: before.ids, matching: ids.length, total: all.length, moved: moved(this.ranks, ranks) };
    }
    const now = this.listed;
    return (
      now.ids !== before.ids ||
      now.matching !== before.matching ||
      now.total !== before.total ||
      now.moved !== before.moved
    );
  }

  private tell(): void {
    this.listeners.forEach((tell) => tell());
  }
}

/** The robots that match a filter, in their order; while frozen, the order stays. */
export function useList(filter: Filter, sorting: Sorting, frozen: boolean): Listed & { refresh: () => void } {
  const list = useRef<List>(undefined);
  list.current ??= new List();
  const l = list.current;
  useMemo(() => l.show(filter, sorting), [l, filter, sorting]);
  const listed = useSyncExternalStore(l.subscribe, () => l.listed);
  useEffect(() => l.freeze(frozen), [l, frozen]);
  return { ...listed, refresh: l.refresh };
}

/** The sites, labels, modes and stories that robots have now. */
export function facetsNow(): Facets {
  const sites = new Set<string>();
  const labels = new Set<string>();
  const modes = new Set(['str', 'mnl', 'ato', 'safe']);
  const stories = new Set<string>();
  for (const r of robots.everything()) {
    for (const [key, value] of Object.entries(r.labels)) {
      if (key === 'site') sites.add(value);
      labels.add(`${key}=${value}`);
    }
    if (r.mode) modes.add(r.mode);
    if (r.story) stories.add(r.story.id);
    if (r.desired.story) stories.add(r.desired.story.id);
  }
  return { sites: [...sites].sort(), labels: [...labels].sort(), modes: [...modes], stories: [...stories].sort() };
}
