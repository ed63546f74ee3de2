import { memo, useCallback } from 'react';
import { useNavigate } from 'react-router';

import { usePoints } from '../../api/points';
import { useSiteMap } from '../../api/sites';
import { colorOf } from '../../live/drawnFrom';
import { cornersOf } from '../../live/floorMap';
import { MapImage } from '../../live/MapImage';
import { toneOf } from '../../live/performing';
import { fullName, robotName } from '../../live/RobotName';
import { multiples, onPlan, type Placed } from './stage';
import css from './Stage.module.css';
import { useStageTexts } from './stageText';

/** Metres of the margin around what is shown, and of the sides at least: wider than high, as the place for it. */
const [margin, leastWide, leastHigh] = [1.5, 8, 4];

/** The floor from above, x to the right and y up: its map, the places of the robots' map, and the robots where they are. */
export function FloorPlan({ site, robots }: { site: string; robots: readonly Placed[] }) {
  const t = useStageTexts();
  const go = useNavigate();
  const open = useCallback((id: string) => void go(`/robots/${encodeURIComponent(id)}`), [go]);
  // Robots on one map have the same places; those of the first one stand for all.
  const points = usePoints(robots[0]?.id ?? '').data?.points ?? [];
  const places = points.flatMap((p) => (p.at && onPlan(p.at) ? [{ name: p.name, ...p.at }] : []));
  const map = useSiteMap(site, robots[0]?.body.at.map_sha256 ?? '');
  const all = [
    ...[...places, ...robots.map((r) => r.body.at)].map((p) => ({ x: p.x_m, y: p.y_m })),
    ...(map ? cornersOf(map) : []),
  ];
  const [xs, ys] = [all.map((p) => p.x), all.map((p) => p.y)];
  const span = (from: number[], side: number): [start: number, length: number] => {
    const [low, high] = [Math.min(...from) - margin, Math.max(...from) + margin];
    const more = Math.max(0, side - (high - low));
    return [low - more / 2, high - low + more];
  };
  const [left, width] = span(xs, leastWide);
  const [bottom, height] = span(ys, leastHigh);
  const r = Math.max(width, height) / 42;
  const step = Math.max(1, Math.round(Math.max(width, height) / 20));
  const label = robots.map((x) => t.planAt(fullName(x), x.body.at.x_m.toFixed(1), x.body.at.y_m.toFixed(1))).join('; ');
  return (
    <svg
      role="img"
      aria-label={t.planOf(site, label)}
      viewBox={`${left} ${-(bottom + height)} ${width} ${height}`}
      className={css.plan}
      data-testid="floor-plan"
    >
      {map && <MapImage site={site} map={map} />}
      {multiples(left, left + width, step).map((x) => (
        <line key={x} x1={x} x2={x} y1={-bottom} y2={-(bottom + height)} strokeWidth={r / 18} className={css.square} />
      ))}
      {multiples(bottom, bottom + height, step).map((y) => (
        <line key={y} x1={left} x2={left + width} y1={-y} y2={-y} strokeWidth={r / 18} className={css.square} />
      ))}
      {places.map((p) => (
        <g key={p.name}>
          <rect x={p.x_m - r / 3} y={-p.y_m - r / 3} width={r / 1.5} height={r / 1.5} className={css.place} />
          <text x={p.x_m + r * 0.7} y={-p.y_m + r * 1.6} fontSize={r * 1.3} className={css.place}>
            {p.name}
          </text>
        </g>
      ))}
      {robots.map((x) => (
        <RobotOnPlan key={x.id} of={x} r={r} open={open} />
      ))}
    </svg>
  );
}

interface OnPlan {
  of: Placed;
  /** The radius of its circle, in metres. */
  r: number;
  open: (id: string) => void;
}

/** One robot where it is. It is drawn again only if it changed. */
const RobotOnPlan = memo(function RobotOnPlan({ of: x, r, open }: OnPlan) {
  const { x_m, y_m, theta_rad } = x.body.at;
  const tone = toneOf(x);
  return (
    <g
      transform={`translate(${x_m} ${-y_m})`}
      opacity={tone === 'away' ? 0.45 : undefined}
      onClick={() => open(x.id)}
      cursor="pointer"
    >
      <path
        d={`M${r * 1.7} 0 L${r * 0.4} ${r * 0.9} L${r * 0.4} ${-r * 0.9}z`}
        transform={`rotate(${(-theta_rad * 180) / Math.PI})`}
        fill={`var(--mantine-color-${colorOf(x)}-7)`}
      />
      <circle r={r} fill={`var(--mantine-color-${colorOf(x)}-5)`} />
      {(tone === 'stopped' || tone === 'attention') && (
        <circle
          r={r * 1.5}
          strokeWidth={r / 4}
          className={css.halt}
          strokeDasharray={tone === 'stopped' ? undefined : `${r / 2}`}
        />
      )}
      <text x={r * 1.4} y={-r * 0.9} fontSize={r * 1.6} className={css.words}>
        {robotName(x)}
        {robotName(x) !== x.id && (
          <tspan dx={r / 2} fontSize={r * 1.3} className={css.place}>
            {x.id}
          </tspan>
        )}
      </text>
    </g>
  );
});
