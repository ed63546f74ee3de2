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

/** The keys that are held. */
export class Keys {
  private readonly held = new Set<string>();

  /** A key goes down. A repetition of one that is not known to be held is not a new press. */
  down(code: string, repeat: boolean): void {
    if (drives(code) && !repeat) this.held.add(code);
  }

  up(code: string): void {
    this.held.delete(code);
  }

  /** Forgets all keys: their release may go unnoticed, such as in another window. */
  clear(): void {
    this.held.clear();
  }

  velocity(): Velocity {
    let [vx, wz] = [0, 0];
    for (const code of this.held) {
      vx += directions[code]!.vx;
      wz += directions[code]!.wz;
    }
    return { vx: Math.sign(vx), wz: Math.sign(wz) };
  }
}
