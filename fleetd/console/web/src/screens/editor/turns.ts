import type { TurnTexts } from './turnText';

/** The angles of an action, in degrees; those that it leaves as they are, are undefined. */
interface Angles {
  yaw?: number;
  pitch?: number;
  roll?: number;
}

/** Where the head or the body turns, in directions that people see instead of signs; empty without an angle. */
export function turned(t: TurnTexts, type: string, { yaw, pitch, roll }: Angles): string {
  if (yaw === undefined && pitch === undefined && roll === undefined) return '';
  const whole = (n = 0) => Math.round(n);
  const size = (n = 0) => `${Math.abs(whole(n))}°`;
  const [y, p, r] = [whole(yaw), whole(pitch), whole(roll)];
  const parts = [
    y > 0 && t.left(size(yaw)),
    y < 0 && t.right(size(yaw)),
    p > 0 && (type === 'head' ? t.up : t.back)(size(pitch)),
    p < 0 && (type === 'head' ? t.down : t.forward)(size(pitch)),
    r !== 0 && t.side(size(roll)),
  ].filter(Boolean);
  return parts.join(', ') || (type === 'head' ? t.straight : t.upright);
}

/** The angles in a text of fleetd's timeline, such as yaw 34.4°, pitch 0°. */
export function anglesIn(text: string): Angles {
  const of = (name: string) => {
    const found = new RegExp(`\\b${name} (-?[\\d.]+)°`).exec(text);
    return found ? Number(found[1]) : undefined;
  };
  return { yaw: of('yaw'), pitch: of('pitch'), roll: of('roll') };
}
