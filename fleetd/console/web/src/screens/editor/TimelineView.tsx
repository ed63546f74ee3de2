import { ActionIcon, Group, Select, Stack, Text, Tooltip } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { Fragment, useEffect, useRef, useState } from 'react';

import { useLanguage } from '../../text/language';
import { languageName, sameLanguage } from '../../text/multilingual';
import { type Timeline, useNameOf } from '../library/api';
import { jump } from './Problems';
import { beside, colorIn, least, otherLanguages, rowsOf, tick, wordsOf } from './timeline';
import { useActionTexts } from './actions';
import { useTimelineTexts } from './timelineText';
import type { Editor } from './useEditor';
import { useNames } from './names';
import { useTurnTexts } from './turnText';

/** Pixels of a row of bars. */
const rowHeight = 28;

const seconds = (ms: number) => (ms / 1000).toFixed(1);

/** What each unit does by time, as fleetd computes it: a lane for each, conflicts marked. */
export function TimelineView({ editor }: { editor: Editor }) {
  const t = useTimelineTexts();
  const names = useNames();
  const reader = useLanguage((s) => s.language);
  const timeline = editor.check.timeline;
  const [playing, setPlaying] = useState(false);
  const [cursor, setCursor] = useState(0);
  const length = timeline?.length_ms ?? 0;
  const others = timeline ? otherLanguages(timeline, editor.lang) : [];

  useEffect(() => {
    if (!playing || length === 0) return undefined;
    const began = performance.now() - cursor;
    let frame = requestAnimationFrame(function next(now) {
      const at = now - began;
      if (at >= length) {
        setCursor(0);
        setPlaying(false);
        return;
      }
      setCursor(at);
      frame = requestAnimationFrame(next);
    });
    return () => cancelAnimationFrame(frame);
  }, [playing, length]);

  return (
    <Stack gap={4} component="section" aria-label={t.timeline}>
      <Group gap="xs" justify="space-between">
        <Group gap="xs">
          <Text fw={700} size="sm">
            {t.timeline}
          </Text>
          {length > 0 && (
            <>
              <Text size="sm" c="dimmed">
                {t.about(seconds(length))}
              </Text>
              <Tooltip label={playing ? t.pause : t.play}>
                <ActionIcon
                  variant="default"
                  size={28}
                  aria-label={playing ? t.pause : t.play}
                  onClick={() => setPlaying(!playing)}
                >
                  {playing ? <IconPlayerPause size={16} aria-hidden /> : <IconPlayerPlay size={16} aria-hidden />}
                </ActionIcon>
              </Tooltip>
            </>
          )}
        </Group>
        <Select
          size="xs"
          w={170}
          aria-label={t.language}
          allowDeselect={false}
          value={editor.lang}
          data={[...new Set([...(names.languages ?? []), ...others, editor.lang])]
            .sort()
            .map((l) => ({ value: l, label: `${languageName(l, reader)} (${l})` }))}
          onChange={(v) => v && editor.setLang(v)}
        />
      </Group>
      {!timeline && (
        <Text size="sm" c="dimmed">
          {t.none}
        </Text>
      )}
      {timeline && length === 0 && (
        <Text size="sm" c="dimmed">
          {t.empty}
        </Text>
      )}
      {others.length > 0 && (
        <Text size="xs" c="dimmed">
          {t.others(languageName(editor.lang, reader), others.map((l) => languageName(l, reader)).join(', '))}
        </Text>
      )}
      {timeline && timeline.least_ms !== timeline.most_ms && (
        <Text size="xs" c="dimmed" data-testid="estimate-basis">
          {t.basis}
        </Text>
      )}
      {timeline && length > 0 && <Lanes editor={editor} timeline={timeline} cursor={cursor} />}
    </Stack>
  );
}

function Lanes({ editor, timeline, cursor }: { editor: Editor; timeline: Timeline; cursor: number }) {
  const t = useTimelineTexts();
  const length = timeline.length_ms;
  const at = (ms: number) => `${(100 * ms) / length}%`;
  const lane = useElementSize();
  const place = (all: readonly { start_ms: number; end_ms: number }[]) => {
    const rows = rowsOf(all, length);
    return {
      beside: beside(all, length, lane.width),
      height: rowHeight * (Math.max(0, ...rows) + 1),
      styles: all.map((b, k) => ({
        insetInlineStart: at(b.start_ms),
        inlineSize: at(b.end_ms - b.start_ms),
        top: rows[k]! * rowHeight + 2,
      })),
    };
  };
  const step = tick(length);
  const conflicts = (timeline.conflicts ?? []).map((c) => c.pointer);
  const inAct = editor.kind === 'act';
  const spans = timeline.acts ?? [];
  const acts = place(spans);
  const actNames = useNameOf('act');
  const reader = useLanguage((s) => s.language);
  const laneNames: Record<string, string> = useActionTexts().lanes;
  const turns = useTurnTexts();
  const scroll = useRef<HTMLDivElement>(null);
  const mark = useRef<HTMLSpanElement>(null);
  // The cursor stays in view on a sheet that is wider than the screen.
  useEffect(() => {
    const [of, at] = [scroll.current?.getBoundingClientRect(), mark.current?.getBoundingClientRect()];
    if (!of || !at || (at.left >= of.left && at.right <= of.right)) return;
    scroll.current!.scrollBy({ left: at.left - (of.left + of.width / 4) });
  }, [cursor]);
  return (
    <div ref={scroll} className="timeline" tabIndex={0} role="group" aria-label={t.timeline}>
      <div className="sheet" style={{ minWidth: least(length) }}>
        <div className="lane">
          <span className="lane-name" />
          <div ref={lane.ref} className="lane-bars scale">
            {Array.from({ length: Math.floor(length / step) + 1 }, (_, n) => (
              <span key={n} style={{ insetInlineStart: at(n * step) }}>
                {(n * step) / 1000}
              </span>
            ))}
          </div>
        </div>
        {spans.length > 0 && (
          <div className="lane">
            <span className="lane-name">{laneNames.act}</span>
            <div className="lane-bars" style={{ height: acts.height }}>
              {spans.map((s, k) => (
                <button
                  key={s.step}
                  type="button"
                  className="bar"
                  data-kind="act"
                  style={acts.styles[k]}
                  title={s.act}
                  aria-label={t.bar(actNames(s.act), seconds(s.start_ms), seconds(s.end_ms))}
                  onClick={() => jump(editor, `/acts/${s.step}`)}
                >
                  <span className="bar-words">{actNames(s.act)}</span>
                </button>
              ))}
            </div>
          </div>
        )}
        {(timeline.lanes ?? []).map((lane, n) => {
          const bars = place(lane.bars ?? []);
          return (
            <div className="lane" key={n}>
              <span className="lane-name">{lane.unit || laneNames[lane.class] || lane.class}</span>
              <div className="lane-bars" style={{ height: bars.height }}>
                {(lane.bars ?? []).map((b, k) => {
                  const conflict = inAct && conflicts.some((c) => c === b.pointer || c.startsWith(`${b.pointer}/`));
                  const what = wordsOf(b, turns);
                  const color = colorIn(b);
                  const other = b.lang && !sameLanguage(b.lang, editor.lang) ? b.lang : '';
                  const label = [
                    t.bar(
                      [...new Set([b.type, what, color])].filter(Boolean).join(' '),
                      seconds(b.start_ms),
                      seconds(b.end_ms),
                    ),
                    other && t.inLanguage(languageName(other, reader)),
                    b.estimated && t.estimated,
                    b.waits_ms && t.waits(seconds(b.waits_ms)),
                    conflict && t.conflict,
                  ]
                    .filter(Boolean)
                    .join(', ');
                  const words = bars.beside[k];
                  return (
                    <Fragment key={k}>
                      <button
                        type="button"
                        className="bar"
                        title={label}
                        aria-label={label}
                        data-conflict={conflict || undefined}
                        data-estimated={b.estimated || undefined}
                        data-waits={(b.waits_ms ?? 0) > 0 || undefined}
                        style={bars.styles[k]}
                        onClick={() => jump(editor, inAct ? b.pointer : `/acts/${b.step ?? 0}`)}
                      >
                        {color && <span className="bar-color" style={{ backgroundColor: color }} />}
                        <span className="bar-words">
                          {conflict ? '⚠ ' : ''}
                          {other && <b>{other} </b>}
                          {what}
                        </span>
                      </button>
                      {words && (
                        <span
                          aria-hidden
                          className="bar-beside"
                          style={{ ...bars.styles[k], marginInlineStart: words.from, inlineSize: words.room }}
                        >
                          {what}
                        </span>
                      )}
                    </Fragment>
                  );
                })}
              </div>
            </div>
          );
        })}
        {cursor > 0 && (
          <div className="lane cursor-lane" aria-hidden>
            <span className="lane-name" />
            <div className="lane-bars">
              <span ref={mark} className="cursor" style={{ insetInlineStart: at(cursor) }} />
            </div>
          </div>
        )}
      </div>
    </div>
  );
}
