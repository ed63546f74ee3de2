import { useSyncExternalStore } from 'react';

import type { Robot } from '../api/client';

/**
 * The newest summary of every robot, outside of React: with 10,000 robots only the rows
 * that changed, and that are on the screen, are drawn again.
 */
export class RobotMap {
  private readonly rows = new Map<string, Robot>();
  private readonly one = new Map<string, Set<() => void>>();
  private readonly all = new Set<() => void>();
  private list: readonly Robot[] = [];
  private listIsOld = false;

  /** Replaces every robot. */
  reset(robots: readonly Robot[]): void {
    const gone = new Set(this.rows.keys());
    this.rows.clear();
    for (const r of robots) {
      this.rows.set(r.id, r);
      gone.delete(r.id);
    }
    this.changed([...robots.map((r) => r.id), ...gone]);
  }

  /** Takes the robots that changed. */
  apply(robots: readonly Robot[]): void {
    for (const r of robots) {
      if (r.gone) this.rows.delete(r.id);
      else this.rows.set(r.id, r);
    }
    this.changed(robots.map((r) => r.id));
  }

  private changed(ids: readonly string[]): void {
    this.listIsOld = true;
    for (const id of ids) this.one.get(id)?.forEach((notify) => notify());
    this.all.forEach((notify) => notify());
  }

  get(id: string): Robot | undefined {
    return this.rows.get(id);
  }

  /** Every robot in the order of arrival; the same array until something changes. */
  everything(): readonly Robot[] {
    if (this.listIsOld) {
      this.list = [...this.rows.values()];
      this.listIsOld = false;
    }
    return this.list;
  }

  /** Calls back after each change of one robot, or of any with id undefined. */
  subscribe(id: string | undefined, notify: () => void): () => void {
    if (id === undefined) {
      this.all.add(notify);
      return () => this.all.delete(notify);
    }
    const listeners = this.one.get(id) ?? new Set();
    this.one.set(id, listeners);
    listeners.add(notify);
    return () => {
      listeners.delete(notify);
      if (listeners.size === 0) this.one.delete(id);
    };
  }
}

export const robots = new RobotMap();

/** The newest summary of one robot; undefined if fleetd does not know it. */
export function useRobot(id: string): Robot | undefined {
  return useSyncExternalStore(
    (notify) => robots.subscribe(id, notify),
    () => robots.get(id),
  );
}

/** ms between two drawings of what counts many robots. */
const calm = 1000;
/** From this many robots on, what counts them draws only so often. */
const many = 300;

/**
 * Gives the robots of a map to components that count them. In a large fleet, where robots change
 * with every message, it gives the same array for a while, so that these draw less often.
 */
export class Census {
  private list: readonly Robot[] = [];
  private readonly listeners = new Set<() => void>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private end?: () => void;

  constructor(private readonly map: RobotMap) {}

  now = (): readonly Robot[] => {
    if (!this.end) this.list = this.map.everything();
    return this.list;
  };

  subscribe = (notify: () => void): (() => void) => {
    this.list = this.now();
    this.listeners.add(notify);
    this.end ??= this.map.subscribe(undefined, this.changed);
    return () => {
      this.listeners.delete(notify);
      if (this.listeners.size > 0) return;
      this.end?.();
      this.end = undefined;
      clearTimeout(this.timer);
      this.timer = undefined;
    };
  };

  private changed = (): void => {
    const all = this.map.everything();
    if (all.length < many || this.list.length < many) this.take();
    else this.timer ??= setTimeout(this.take, calm);
  };

  private take = (): void => {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.list = this.map.everything();
    this.listeners.forEach((notify) => notify());
  };
}

const census = new Census(robots);

/** Every robot, for counts and short lists. In a large fleet it draws again once a second. */
export function useRobots(): readonly Robot[] {
  return useSyncExternalStore(census.subscribe, census.now);
}

/** A string computed from all robots; a component that uses it is drawn again only when the string changes. */
export function useAmongRobots(find: (all: readonly Robot[]) => string): string {
  return useSyncExternalStore(census.subscribe, () => find(census.now()));
}

/** The sites of the robots, in order: the values of their label site. */
export function useSites(): string[] {
  return [...new Set(useRobots().flatMap((r) => r.labels.site ?? []))].sort();
}
