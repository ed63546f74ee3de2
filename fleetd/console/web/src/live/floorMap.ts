import type { SiteMap } from '../api/sites';

interface At {
  x: number;
  y: number;
}

/** The corners of the image of a map in metres, from the lower left one, counterclockwise. */
export function cornersOf(m: Pick<SiteMap, 'resolution_m' | 'x_m' | 'y_m' | 'theta_rad' | 'width' | 'height'>): At[] {
  const [wide, high] = [m.width * m.resolution_m, m.height * m.resolution_m];
  const [c, s] = [Math.cos(m.theta_rad ?? 0), Math.sin(m.theta_rad ?? 0)];
  return [
    [0, 0],
    [wide, 0],
    [wide, high],
    [0, high],
  ].map(([x, y]) => ({ x: m.x_m + x! * c - y! * s, y: m.y_m + x! * s + y! * c }));
}

/** What ROS writes of a map, as far as it says where the image lies; undefined if it is something else. */
export function rosMapOf(
  read: unknown,
): { image: string; resolution: number; origin: number[]; negate: boolean } | undefined {
  const { image, resolution, origin, negate } = (read ?? {}) as Record<string, unknown>;
  const numbers = Array.isArray(origin) && origin.length >= 2 && origin.every((n) => typeof n === 'number');
  if (typeof image !== 'string' || typeof resolution !== 'number' || !numbers) return undefined;
  return { image, resolution, origin: origin as number[], negate: !!negate };
}
