import 'uplot/dist/uPlot.min.css';

import { Text, useComputedColorScheme } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';

import { texts } from '../../text/language';
import { dateTime, locale } from '../../text/time';
import { beside, curveOf, longestGap, type Measured, nearest, shown, summary } from './curve';

const useTexts = texts(
  {
    line: (name: string, newest: string, least: string, most: string, mean: string) =>
      `${name}: ${newest} at the end, ${least} to ${most}, ${mean} on average`,
    gap: (length: string) => `; nothing was measured for up to ${length}`,
    value: (at: string, mean: string, least: string, most: string) => `${at}: ${mean} (${least} to ${most})`,
    keys: 'Arrow keys go along the curve.',
  },
  {
    line: (name: string, newest: string, least: string, most: string, mean: string) =>
      `${name}: am Ende ${newest}, ${least} bis ${most}, im Mittel ${mean}`,
    gap: (length: string) => `; bis zu ${length} lang wurde nichts gemessen`,
    value: (at: string, mean: string, least: string, most: string) => `${at}: ${mean} (${least} bis ${most})`,
    keys: 'Pfeiltasten gehen an der Kurve entlang.',
  },
  {
    line: (name, newest, least, most, mean) =>
      `${name} : ${newest} à la fin, de ${least} à ${most}, ${mean} en moyenne`,
    gap: (length) => ` ; rien n’a été mesuré pendant jusqu’à ${length}`,
    value: (at, mean, least, most) => `${at} : ${mean} (de ${least} à ${most})`,
    keys: 'Les flèches du clavier suivent la courbe.',
  },
);

const colors = {
  light: { line: '#3b5bdb', band: 'rgba(59, 91, 219, 0.18)', ink: '#495057', grid: '#dee2e6' },
  dark: { line: '#91a7ff', band: 'rgba(145, 167, 255, 0.22)', ink: '#c9c9c9', grid: '#424242' },
};

const minute = 60_000;

/** A length of time in words. */
function lengthText(ms: number): string {
  const [n, unit] =
    ms < 120 * minute
      ? [ms / minute, 'minute']
      : ms < 48 * 60 * minute
        ? [ms / (60 * minute), 'hour']
        : [ms / (1440 * minute), 'day'];
  return new Intl.NumberFormat(locale(), { style: 'unit', unit: unit as string, unitDisplay: 'long' }).format(
    Math.round(n as number),
  );
}

/** What stands below the time axis: the shorter the time that is shown, the finer. */
function tickText(at: number, spanS: number): string {
  const d = new Date(at * 1000);
  if (spanS <= 2 * 86400)
    return d.toLocaleTimeString(locale(), { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  if (spanS <= 32 * 86400) return d.toLocaleDateString(locale(), { weekday: 'short', day: 'numeric' });
  return d.toLocaleDateString(locale(), { month: 'short', day: 'numeric' });
}

interface Props {
  name: string;
  unit: string;
  points: readonly Measured[];
  stepS: number;
  /** The time that is shown, ms. */
  since: number;
  until: number;
  range?: [number, number];
  height?: number;
}

/** One measurement over time: a line of means, and around it the least and the greatest values. */
export default function CurvePlot({ name, unit, points, stepS, since, until, range, height = 180 }: Props) {
  const t = useTexts();
  const scheme = useComputedColorScheme('light');
  const { ref, width } = useElementSize();
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const curve = useMemo(() => curveOf(points, stepS), [points, stepS]);
  const [place, setPlace] = useState<number>();
  const say = (v: number) => `${shown(v)} ${unit}`;

  useEffect(() => {
    if (!box.current || width === 0) return;
    const c = colors[scheme];
    const grid = { stroke: c.grid, width: 1 };
    const axis = { stroke: c.ink, grid, ticks: grid };
    const few = curve.mean.filter((v) => v !== null).length < 3;
    const hidden = { stroke: 'transparent', width: 0, points: { show: false } };
    const made = new uPlot(
      {
        width,
        height,
        legend: { show: false },
        padding: [null, 12, null, null], // the newest point is whole
        cursor: { drag: { x: false, y: false }, y: false },
        scales: {
          x: { range: [since / 1000, until / 1000] },
          y: range ? { range } : { range: (_, from, to) => padded(from, to) },
        },
        axes: [
          {
            ...axis,
            size: 34,
            values: (u, ticks) => ticks.map((v) => tickText(v, u.scales.x!.max! - u.scales.x!.min!)),
          },
          { ...axis, size: 76, values: (_, ticks) => ticks.map((v) => `${v} ${unit}`) },
        ],
        series: [{}, hidden, hidden, { stroke: c.line, width: 2, points: { show: few } }],
        bands: [{ series: [2, 1], fill: c.band }],
        hooks: { setCursor: [(u) => setPlace(u.cursor.idx ?? undefined)] },
      },
      [curve.at, curve.min, curve.max, curve.mean],
      box.current,
    );
    plot.current = made;
    return () => made.destroy();
  }, [width, height, scheme, unit, curve, since, until, range]);

  const go = (e: KeyboardEvent) => {
    const step = e.key === 'ArrowRight' ? 1 : e.key === 'ArrowLeft' ? -1 : undefined;
    const u = plot.current;
    if (!step || !u || curve.at.length === 0) return;
    e.preventDefault();
    const from = place === undefined ? nearest(curve, until / 1000) : beside(curve, place, step);
    if (from === undefined) return;
    u.setCursor({ left: u.valToPos(curve.at[from]!, 'x'), top: 0 });
  };
  const all = summary(points);
  const gap = longestGap(points, stepS);
  const sentence =
    all &&
    t.line(name, say(all.newest), say(all.least), say(all.most), say(all.mean)) + (gap ? t.gap(lengthText(gap)) : '');
  const at = place === undefined ? undefined : curve.at[place];
  const mean = place === undefined ? undefined : curve.mean[place];
  return (
    <>
      <div
        ref={ref}
        role="img"
        tabIndex={0}
        aria-label={`${sentence ?? name}. ${t.keys}`}
        onKeyDown={go}
        dir="ltr"
        style={{ minHeight: height, position: 'relative' }}
      >
        {/* The canvas is out of the flow: its width follows from that of the card, and never holds it open. */}
        <div ref={box} style={{ position: 'absolute', inset: 0 }} />
      </div>
      <Text size="sm" role={place === undefined ? undefined : 'status'} mih={22}>
        {at !== undefined && typeof mean === 'number'
          ? t.value(dateTime(at * 1000), say(mean), say(curve.min[place!]!), say(curve.max[place!]!))
          : sentence}
      </Text>
    </>
  );
}

/** The range of an axis: some room above and below, and not a hair's breadth for a value that is always the same. */
function padded(from: number, to: number): [number, number] {
  const room = Math.max((to - from) * 0.1, Math.abs(to) * 0.02, 0.5);
  return [from >= 0 ? Math.max(0, from - room) : from - room, to + room];
}
