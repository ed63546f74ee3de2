/** What a person drives with. */
export type Source = 'stick' | 'buttons' | 'keys' | 'gamepad';

/** Shares of the greatest speed, from -1 to 1: forwards, and to the left. */
export interface Velocity {
  vx: number;
  wz: number;
}

/** Why the page made the velocity zero although something was deflected. */
export type Cause =
  | 'blur'
  | 'hidden'
  | 'pointer'
  | 'gamepad'
  | 'unmoved'
  | 'repeat'
  | 'modifier'
  | 'menu'
  | 'drag'
  | 'dialog'
  | 'composing'
  | 'socket'
  | 'unconnected'
  | 'no-frames'
  | 'latency'
  | 'fleetd'
  | 'leaving';

const still: Velocity = { vx: 0, wz: 0 };
const share = (v: number) => (Number.isFinite(v) ? Math.min(Math.max(v, -1), 1) : 0);

/**
 * The dead man's switch of the page: the first of three, before those of fleetd and of the
 * robot. The velocity is that of the source that moved last, and zero when nothing is
 * deflected. After `zero` each source that was deflected must be released before it counts
 * again, so that no robot starts because a focus or a connection came back.
 */
export class DeadMan {
  private readonly deflected = new Map<Source, Velocity>();
  private readonly barred = new Set<Source>();

  /** A source is deflected; without a deflection that is its release. */
  push(source: Source, v: Velocity): void {
    const to = { vx: share(v.vx), wz: share(v.wz) };
    if (to.vx === 0 && to.wz === 0) {
      this.release(source);
      return;
    }
    if (this.barred.has(source)) return;
    const before = this.deflected.get(source);
    if (before?.vx === to.vx && before.wz === to.wz) return;
    this.deflected.delete(source); // the last one in the map counts
    this.deflected.set(source, to);
  }

  /** A source is at rest. */
  release(source: Source): void {
    this.deflected.delete(source);
    this.barred.delete(source);
  }

  /** Whether a source is deflected and counts. */
  holds(source: Source): boolean {
    return this.deflected.has(source);
  }

  /** Whether a source must be released before it counts again. */
  bars(source: Source): boolean {
    return this.barred.has(source);
  }

  /** Makes the velocity zero, and reports whether it was not. */
  zero(): boolean {
    const was = this.deflected.size > 0;
    for (const source of this.deflected.keys()) this.barred.add(source);
    this.deflected.clear();
    return was;
  }

  velocity(): Velocity {
    return [...this.deflected.values()].pop() ?? still;
  }
}
