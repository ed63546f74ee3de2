import { Badge, Group, List, Stack, Text, Tooltip } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { IconCheck, IconPlayerPlay, IconPoint } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';

import type { Schemas } from '../../api/client';
import { texts } from '../../text/language';
import { useNameOf } from '../library/api';
import { duration } from '../../text/time';
import classes from './StoryTimeline.module.css';

const useTexts = texts(
  {
    title: 'Timeline of the story',
    acts: 'Acts',
    states: { done: 'done', current: 'performed now', next: 'comes' },
    paused: 'paused here',
    estimated:
      'Times are estimates: speech by its longest text, a usual time for each motion and each drive. The cursor follows what the robot reports.',
    at: (at: string, of: string) => `${at} of about ${of}`,
  },
  {
    paused: 'pausiert hier',
    title: 'Ablauf der Geschichte',
    acts: 'Akte',
    states: { done: 'erledigt', current: 'läuft jetzt', next: 'kommt' },
    estimated:
      'Zeiten sind geschätzt: Sprache nach dem längsten Text, eine übliche Zeit für jede Bewegung und jede Fahrt. Der Zeiger folgt dem, was der Roboter meldet.',
    at: (at: string, of: string) => `${at} von etwa ${of}`,
  },
  {
    title: 'Chronologie de l’histoire',
    acts: 'Actes',
    states: { done: 'fini', current: 'joué maintenant', next: 'à venir' },
    paused: 'en pause ici',
    estimated:
      'Les temps sont estimés : la parole d’après son texte le plus long, un temps habituel pour chaque mouvement et chaque trajet. Le curseur suit ce que le robot signale.',
    at: (at, of) => `${at} sur ${of} environ`,
  },
);

type Timeline = Schemas['Timeline'];
type ActState = 'done' | 'current' | 'next';

const colors: Record<ActState, string> = { done: 'gray', current: 'green', next: 'blue' };
const icons = { done: IconCheck, current: IconPlayerPlay, next: IconPoint };

/** Pixels of a second at least, so that a bar of a word can still be read. */
const least = 9;

/** Pixels that a word needs at least. */
const word = 34;

/** Pixels of the names of the units, before the first second. */
const names = 90;

interface Props {
  timeline: Timeline;
  current: number;
  at?: number;
  paused?: boolean;
}

/** The acts and what each unit does, by time, with a cursor where the robot is. */
export function StoryTimeline({ timeline, current, at, paused }: Props) {
  const t = useTexts();
  const name = useNameOf('act');
  const stateOf = (i: number): ActState => (i < current ? 'done' : i === current ? 'current' : 'next');
  const { ref: whole, width } = useElementSize<HTMLDivElement>();
  const scroll = useRef<HTMLDivElement>(null);
  const scale = Math.max(least, ((width - names - 2) / Math.max(1, timeline.length_ms)) * 1000);
  const left = (ms: number) => (ms / 1000) * scale;
  const from = timeline.acts[current]?.start_ms;
  // Each act is brought into view when it begins; in between a person may look elsewhere.
  useEffect(() => {
    const el = scroll.current;
    if (!el || from === undefined) return;
    const end = left(timeline.acts[current]!.end_ms) + names;
    if (left(from) < el.scrollLeft || end > el.scrollLeft + el.clientWidth) el.scrollLeft = left(from);
  }, [from]);
  return (
    <Stack gap="sm" ref={whole}>
      <Group gap="xs">
        <Text size="xs" c="dimmed">
          {t.estimated}
        </Text>
        {at !== undefined && (
          <Text size="sm" fw={500} data-testid="story-cursor" data-ms={Math.round(at)}>
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
                  data-place={stateOf(i)}
                  style={{ left: left(a.start_ms), width: Math.max(4, left(a.end_ms - a.start_ms) - 2) }}
                >
                  {name(a.act)}
                </div>
              ))}
            </div>
          </div>
          {timeline.lanes.map((lane, n) => (
            <div key={n} className={classes.lane}>
              <span className={classes.name}>{lane.unit || lane.class}</span>
              <div className={classes.track}>
                {lane.bars.map((b) => {
                  // What takes no time has its word beside it, up to what comes next.
                  const next = Math.min(
                    timeline.length_ms,
                    ...lane.bars.map((o) => o.start_ms).filter((s) => s > b.start_ms),
                  );
                  const long = left(b.end_ms - b.start_ms);
                  const brief = long <= word;
                  const room = brief ? left(next - b.start_ms) : long;
                  return (
                    <Tooltip
                      key={`${b.pointer} ${b.start_ms} ${b.step ?? ''}`}
                      label={`${b.type} ${b.text ?? ''} (${duration(b.start_ms)} – ${duration(b.end_ms)})`}
                    >
                      <div
                        className={classes.bar}
                        data-bar
                        data-estimated={b.estimated || undefined}
                        data-brief={brief || undefined}
                        style={{
                          left: left(b.start_ms),
                          width: brief && room <= word ? Math.max(4, long - 1) : undefined,
                          [brief ? 'maxWidth' : 'width']: room - 1,
                          borderInlineStartWidth: brief ? Math.max(4, long - 1) : undefined,
                        }}
                      >
                        {room > word && (b.text || b.type)}
                      </div>
                    </Tooltip>
                  );
                })}
              </div>
            </div>
          ))}
          {at !== undefined && <div className={classes.cursor} style={{ left: names + left(at) }} />}
        </div>
      </div>
      <List listStyleType="none" spacing={4} aria-label={t.acts} className="step-list">
        {timeline.acts.map((a, i) => {
          const Icon = icons[stateOf(i)];
          return (
            <List.Item key={`${a.step} ${a.act}`} icon={<Icon size={16} aria-hidden />}>
              <Group gap="xs">
                <Text size="sm" fw={stateOf(i) === 'current' ? 500 : 400} dir="auto">
                  {name(a.act)}
                </Text>
                {current >= 0 && (
                  <Badge variant="light" tt="none" color={colors[stateOf(i)]}>
                    {paused && i === current ? t.paused : t.states[stateOf(i)]}
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
