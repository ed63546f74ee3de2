import type { Velocity } from './deadman';

/** Keys of driving by their place on the keyboard, whatever its layout. */
const directions: Record<string, Velocity> = {
  KeyW: { vx: 1, wz: 0 },
  ArrowUp: { vx: 1, wz: 0 },
  KeyS: { vx: -1, wz: 0 },
  ArrowDown: { vx: -1, wz: 0 },
  KeyA: { vx: 0, wz: 1 },
  ArrowLeft: { vx: 0, wz: 1 },
  KeyD: { vx: 0, wz: -1 },
  ArrowRight: { vx: 0, wz: -1 },
};

export const drives = (code: string): boolean => code in directions;

/** ms that a press drives without a repetition. Keyboards repeat a held key after 0.2 to 1 s, and after 1.8 s at most. */
export const afterPress = 2000;
/** ms that a key drives after a repetition: two of the slowest that a keyboard makes by itself, 2 in a second. */
export const afterRepeat = 1000;

/**
 * The keys that are held. A browser may never report a release: macOS reports none while Cmd is held, and what is open
 * above the page may take it. So a held key must be confirmed, and the repetitions of the keyboard are all that does: the
 * newest key counts for afterPress, and after each repetition for afterRepeat. A keyboard repeats the newest key alone, so
 * its repetitions confirm the older ones, too; and after its release no key is repeated any more, so the older ones then
 * count for afterPress, as if they had just been pressed. A person who steers with short presses notices nothing of this.
 */
export class Keys {
  /** The direction of each by its own code, the newest one last. */
  private readonly held = new Map<string, Velocity>();
  private confirmedUntil = 0;

  /** A key goes down. A repetition of one that is not known to be held is not a new press. as: the key of driving that it stands for. */
  down(code: string, repeat: boolean, now: number, as = code): void {
    if (repeat) {
      if (code === this.newest()) this.confirmedUntil = now + afterRepeat;
      return;
    }
    if (!drives(as)) return;
    this.held.delete(code);
    this.held.set(code, directions[as]!);
    this.confirmedUntil = now + afterPress;
  }

  up(code: string, now: number): void {
    if (code === this.newest()) this.confirmedUntil = now + afterPress;
    this.held.delete(code);
  }

  /** Forgets all keys: their release may go unnoticed, such as in another window. */
  clear(): void {
    this.held.clear();
  }

  has(code: string): boolean {
    return this.held.has(code);
  }

  /** Whether keys count as held although nothing says any more that they are. */
  unconfirmed(now: number): boolean {
    return this.held.size > 0 && now > this.confirmedUntil;
  }

  velocity(): Velocity {
    let [vx, wz] = [0, 0];
    for (const v of this.held.values()) {
      vx += v.vx;
      wz += v.wz;
    }
    return { vx: Math.sign(vx), wz: Math.sign(wz) };
  }

  private newest(): string | undefined {
    return [...this.held.keys()].pop();
  }
}
