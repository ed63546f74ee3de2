import 'uplot/dist/uPlot.min.css';

import { Group, Text, useComputedColorScheme } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';

import { texts } from '../../text/language';
import { clock } from '../../text/time';
import type { Sample } from './samples';

const useTexts = texts(
  {
    line: (name: string, now: string, least: string, most: string) => `${name}: ${now} now, ${least} to ${most}`,
    unknown: 'not known now',
  },
  {
    line: (name: string, now: string, least: string, most: string) => `${name}: jetzt ${now}, ${least} bis ${most}`,
    unknown: 'jetzt nicht bekannt',
  },
  {
    line: (name, now, least, most) => `${name} : ${now} maintenant, de ${least} à ${most}`,
    unknown: 'inconnu maintenant',
  },
);

const colors = {
  light: ['#3b5bdb', '#c2255c', '#2b8a3e', '#e8590c'],
  dark: ['#91a7ff', '#faa2c1', '#8ce99a', '#ffc078'],
};

/** Seconds that the x axis shows at least: its labels name whole seconds. */
const shortest = 60;

interface Props {
  samples: readonly Sample[];
  lines: readonly string[];
  names: readonly string[];
  unit: string;
  range?: [number, number];
}

/** Lines over time. Their newest, least and greatest values are written beside them. */
export function Chart({ samples, lines, names, unit, range }: Props) {
  const t = useTexts();
  const scheme = useComputedColorScheme('light');
  const { ref, width } = useElementSize();
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const key = lines.join('|');

  useEffect(() => {
    if (!box.current || width === 0) return;
    const ink = scheme === 'dark' ? '#c9c9c9' : '#495057';
    const grid = { stroke: scheme === 'dark' ? '#424242' : '#dee2e6', width: 1 };
    const axis = { stroke: ink, grid, ticks: grid };
    plot.current = new uPlot(
      {
        width,
        height: 180,
        legend: { show: false },
        cursor: { drag: { x: false, y: false } },
        scales: { x: { range: (_, from, to) => [Math.min(from, to - shortest), to] }, y: range ? { range } : {} },
        axes: [
          { ...axis, values: (_, ticks) => ticks.map((v) => clock(v * 1000)) },
          { ...axis, size: 60, values: (_, ticks) => ticks.map((v) => `${v} ${unit}`) },
        ],
        series: [
          {},
          ...lines.map((_, i) => ({
            stroke: colors[scheme][i % colors[scheme].length],
            width: 2,
            dash: i >= colors[scheme].length ? [6, 4] : undefined,
            points: { show: samples.length < 3 },
          })),
        ],
      },
      shape(samples, lines),
      box.current,
    );
    return () => plot.current?.destroy();
    // The data are set below; these are what the plot is made of.
  }, [width, scheme, key, unit, samples.length < 3]);

  useEffect(() => plot.current?.setData(shape(samples, lines)), [samples, key]);

  const text = lines.map((l, i) => {
    const values = samples.flatMap((s) => s.values[l] ?? []);
    const now = samples.at(-1)?.values[l];
    const say = (v: number) => `${Math.round(v * 10) / 10} ${unit}`;
    return t.line(
      names[i]!,
      now === undefined ? t.unknown : say(now),
      say(Math.min(...values)),
      say(Math.max(...values)),
    );
  });
  return (
    <>
      <div ref={ref} role="img" aria-label={text.join('; ')} dir="ltr" style={{ minHeight: 180 }}>
        <div ref={box} />
      </div>
      <Group gap="md">
        {text.map((line, i) => (
          <Text key={line} size="sm">
            <span aria-hidden style={{ color: colors[scheme][i % colors[scheme].length] }}>
              ━{' '}
            </span>
            {line}
          </Text>
        ))}
      </Group>
    </>
  );
}

function shape(samples: readonly Sample[], lines: readonly string[]): uPlot.AlignedData {
  return [samples.map((s) => s.at / 1000), ...lines.map((l) => samples.map((s) => s.values[l] ?? null))];
}
