import type { Velocity } from './deadman';

/** Sticks of gamepads rest near their middle, not at it. */
const deadZone = 0.15;

/** The deflection of an axis, from zero at the edge of its dead zone. */
export function axis(value: number | undefined): number {
  const v = value ?? 0;
  const size = Math.abs(v);
  return size <= deadZone ? 0 : (Math.sign(v) * (Math.min(size, 1) - deadZone)) / (1 - deadZone);
}

/** The velocity of the left stick: up is forwards, left turns to the left. */
export function ofAxes(axes: readonly number[]): Velocity {
  return { vx: -axis(axes[1]), wz: -axis(axes[0]) };
}

/** A gamepad that is there and says so; undefined if it is lost. */
export function find(pads: readonly (Gamepad | null)[], index: number): Gamepad | undefined {
  const pad = pads.find((p) => p?.index === index);
  return pad?.connected ? pad : undefined;
}

/** ms without any change after which a deflection counts no more. */
export const frozenAfter = 10_000;
/** How far an axis moves if a person moves it; a stick that is held trembles less. */
const trembling = 0.05;
const still: Velocity = { vx: 0, wz: 0 };

/** What a gamepad asks for. */
export interface Reading {
  velocity: Velocity;
  /** A person moved something of it since the last time that this was said. */
  moved: boolean;
  /** This reading ended a deflection, because it had not changed for frozenAfter. */
  frozen: boolean;
}

/**
 * Which readings of a gamepad count. A browser delivers the last snapshot for ever, and before the first touch values that
 * nobody asked for. So the stick counts only after it was seen at rest: since the gamepad was chosen and control was taken,
 * which make a new PadWatch, and since each `awaitRest`. And a deflection ends if no bit of the gamepad changes for
 * frozenAfter: a hand makes an analogue stick tremble, so that is a gamepad which hangs or has lost its radio. A stick at its
 * very edge and the cross of a digital gamepad can look the same while a person holds them; they go back to the middle and
 * drive on, which is the lesser evil.
 */
export class PadWatch {
  /** The stick must go to its middle before it counts. */
  awaitsRest = true;
  private snapshot = '';
  private changedAt = 0;
  private axes?: readonly number[];
  private pressed = '';

  /** The release of the stick may have gone unnoticed. */
  awaitRest(): void {
    this.awaitsRest = true;
  }

  read(axes: readonly number[], buttons: readonly GamepadButton[], now: number): Reading {
    const snapshot = `${axes.join()};${buttons.map((b) => `${b.pressed ? 1 : 0}${b.value}`).join()}`;
    if (snapshot !== this.snapshot) [this.snapshot, this.changedAt] = [snapshot, now];
    const moved = this.moves(axes, buttons);
    const valid = axes.slice(0, 2).every(Number.isFinite);
    const velocity = ofAxes(axes);
    const atRest = valid && velocity.vx === 0 && velocity.wz === 0;
    const frozen = !atRest && !this.awaitsRest && now - this.changedAt >= frozenAfter;
    if (frozen || !valid) this.awaitsRest = true;
    else if (atRest) this.awaitsRest = false;
    return { velocity: this.awaitsRest ? still : velocity, moved, frozen };
  }

  private moves(axes: readonly number[], buttons: readonly GamepadButton[]): boolean {
    const first = !this.axes;
    const pressed = buttons.map((b) => (b.pressed ? 1 : 0)).join();
    if (!first && pressed === this.pressed && axes.every((a, i) => Math.abs(a - (this.axes![i] ?? a)) <= trembling))
      return false;
    [this.axes, this.pressed] = [[...axes], pressed];
    return !first;
  }
}
