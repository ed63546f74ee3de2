export interface At {
  x: number;
  y: number;
}

/** What is seen of the floor: the middle in metres, and pixels per metre. */
export interface View {
  middle: At;
  scale: number;
  width: number;
  height: number;
}

/** A view of all of these, with a margin, and not closer than a few metres. */
export function viewOf(all: readonly At[], width: number, height: number): View {
  const xs = all.map((p) => p.x);
  const ys = all.map((p) => p.y);
  const [left, right] = all.length ? [Math.min(...xs), Math.max(...xs)] : [0, 0];
  const [bottom, top] = all.length ? [Math.min(...ys), Math.max(...ys)] : [0, 0];
  const wide = Math.max(right - left, 3) + 1.5;
  const high = Math.max(top - bottom, 2) + 1.5;
  return {
    middle: { x: (left + right) / 2, y: (bottom + top) / 2 },
    scale: Math.min(width / wide, height / high),
    width,
    height,
  };
}

/** Where a place of the floor is drawn: x to the right, y upwards. */
export function toScreen(v: View, p: At): At {
  return { x: v.width / 2 + (p.x - v.middle.x) * v.scale, y: v.height / 2 - (p.y - v.middle.y) * v.scale };
}

/** Which place of the floor is drawn there. */
export function toFloor(v: View, p: At): At {
  return { x: v.middle.x + (p.x - v.width / 2) / v.scale, y: v.middle.y - (p.y - v.height / 2) / v.scale };
}

/** That place of the screen, or the nearest one of the view. */
export const inView = (v: View, p: At): At => ({
  x: Math.min(v.width, Math.max(0, p.x)),
  y: Math.min(v.height, Math.max(0, p.y)),
});

/** A place to the centimetre. */
export const rounded = (at: At): At => ({ x: Math.round(at.x * 100) / 100, y: Math.round(at.y * 100) / 100 });

/** The place that a key moves a target to: not out of what is seen. */
export const moved = (v: View, at: At, by: At): At =>
  rounded(toFloor(v, inView(v, toScreen(v, { x: at.x + by.x, y: at.y + by.y }))));

/** Where a robot was, and how many metres it drove, also on the part of its path that is forgotten. */
export interface Track {
  path: readonly At[];
  drove: number;
}

/** The track with the newest place, which is left out if the robot hardly moved; the oldest places are forgotten. */
export function extend({ path, drove }: Track, to: At, most = 600): Track {
  const last = path.at(-1);
  const metres = last ? Math.hypot(last.x - to.x, last.y - to.y) : 0;
  if (last && metres < 0.02) return { path, drove };
  return { path: [...path.slice(-most + 1), to], drove: drove + metres };
}
