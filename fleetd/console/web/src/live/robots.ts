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
    for (const id of ids) this.one.get(id)?.forEach((tell) => tell());
    this.all.forEach((tell) => tell());
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
  subscribe(id: string | undefined, tell: () => void): () => void {
    if (id === undefined) {
      this.all.add(tell);
      return () => this.all.delete(tell);
    }
    const listeners = this.one.get(id) ?? new Set();
    this.one.set(id, listeners);
    listeners.add(tell);
    return () => {
      listeners.delete(tell);
      if (listeners.size === 0) this.one.delete(id);
    };
  }
}

export const robots = new RobotMap();

/** The newest summary of one robot; undefined if fleetd does not know it. */
export function useRobot(id: string): Robot | undefined {
  return useSyncExternalStore(
    (tell) => robots.subscribe(id, tell),
    () => robots.get(id),
  );
}

/** Every robot. It draws again with every change: for counts and short lists. */
export function useRobots(): readonly Robot[] {
  return useSyncExternalStore(
    (tell) => robots.subscribe(undefined, tell),
    () => robots.everything(),
  );
}
