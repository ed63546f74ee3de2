import { Badge, Group, List, Stack, Text, Tooltip } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { IconCheck, IconPlayerPlay, IconPoint } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';

import type { Schemas } from '../../api/client';
import { texts } from '../../text/language';
import { duration } from './elapsed';
import classes from './StoryTimeline.module.css';

const useTexts = texts(
  {
    title: 'Timeline of the story',
    acts: 'Acts',
    states: { done: 'done', current: 'performed now', next: 'comes' },
    estimated: 'Times are estimates; the cursor follows what the robot reports.',
    at: (at: string, of: string) => `${at} of about ${of}`,
  },
  {
    title: 'Ablauf der Geschichte',
    acts: 'Akte',
    states: { done: 'erledigt', current: 'läuft jetzt', next: 'kommt' },
    estimated: 'Zeiten sind geschätzt; der Zeiger folgt dem, was der Roboter meldet.',
    at: (at: string, of: string) => `${at} von etwa ${of}`,
  },
);

type Timeline = Schemas['Timeline'];
type Place = 'done' | 'current' | 'next';

const colors: Record<Place, string> = { done: 'gray', current: 'green', next: 'blue' };
const icons = { done: IconCheck, current: IconPlayerPlay, next: IconPoint };

/** Pixels of a second at least, so that a bar of a word can still be read. */
const least = 9;

/** Pixels of the names of the units, before the first second. */
const names = 90;

/** The acts and what each unit does, by time, with a cursor where the robot is. */
export function StoryTimeline({ timeline, current, at }: { timeline: Timeline; current: number; at?: number }) {
  const t = useTexts();
  const place = (i: number): Place => (i < current ? 'done' : i === current ? 'current' : 'next');
  const { ref: whole, width } = useElementSize<HTMLDivElement>();
  const scroll = useRef<HTMLDivElement>(null);
  const scale = Math.max(least, ((width - names - 2) / Math.max(1, timeline.length_ms)) * 1000);
  const left = (ms: number) => (ms / 1000) * scale;
  const from = timeline.acts[current]?.start_ms;
  // Each act is brought into view when it begins; in between a person may look elsewhere.
  useEffect(() => {
    if (scroll.current && from !== undefined) scroll.current.scrollLeft = left(from);
  }, [from]);
  return (
    <Stack gap="sm" ref={whole}>
      <Group gap="xs">
        <Text size="xs" c="dimmed">
          {t.estimated}
        </Text>
        {at !== undefined && (
          <Text size="sm" fw={600} data-testid="story-cursor" data-ms={Math.round(at)}>
            {t.at(duration(at), duration(timeline.length_ms))}
          </Text>
        )}
      </Group>
      <div ref={scroll} className={classes.scroll} tabIndex={0} role="region" aria-label={t.title} dir="ltr">
        <div className={classes.sheet} style={{ width: left(timeline.length_ms) + names }}>
          <div className={classes.lane}>
            <span className={classes.name}>{t.acts}</span>
            <div className={classes.track}>
              {timeline.acts.map((a, i) => (
                <div
                  key={`${a.step} ${a.act}`}
                  className={classes.act}
                  data-place={place(i)}
                  style={{ left: left(a.start_ms), width: Math.max(4, left(a.end_ms - a.start_ms) - 2) }}
                >
                  {a.act}
                </div>
              ))}
            </div>
          </div>
          {timeline.lanes.map((lane, n) => (
            <div key={n} className={classes.lane}>
              <span className={classes.name}>{lane.unit || lane.class}</span>
              <div className={classes.track}>
                {lane.bars.map((b) => (
                  <Tooltip
                    key={`${b.pointer} ${b.start_ms} ${b.step ?? ''}`}
                    label={`${b.type} ${b.text ?? ''} (${duration(b.start_ms)} – ${duration(b.end_ms)})`}
                  >
                    <div
                      className={classes.bar}
                      data-bar
                      data-estimated={b.estimated || undefined}
                      style={{ left: left(b.start_ms), width: Math.max(4, left(b.end_ms - b.start_ms) - 1) }}
                    >
                      {left(b.end_ms - b.start_ms) > 34 && (b.text || b.type)}
                    </div>
                  </Tooltip>
                ))}
              </div>
            </div>
          ))}
          {at !== undefined && <div className={classes.cursor} style={{ left: names + left(at) }} />}
        </div>
      </div>
      <List listStyleType="none" spacing={4} aria-label={t.acts}>
        {timeline.acts.map((a, i) => {
          const Icon = icons[place(i)];
          return (
            <List.Item key={`${a.step} ${a.act}`} icon={<Icon size={16} aria-hidden />}>
              <Group gap="xs">
                <Text size="sm" fw={place(i) === 'current' ? 700 : 400} dir="auto">
                  {a.act}
                </Text>
                {current >= 0 && (
                  <Badge variant="light" tt="none" color={colors[place(i)]}>
                    {t.states[place(i)]}
                  </Badge>
                )}
                <Text size="xs" c="dimmed">
                  {duration(a.start_ms)} – {duration(a.end_ms)}
                </Text>
              </Group>
            </List.Item>
          );
        })}
      </List>
    </Stack>
  );
}
