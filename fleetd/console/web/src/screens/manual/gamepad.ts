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
