import type { KeyboardEvent, PointerEvent } from 'react';

import { useNameOf } from '../library/api';
import { useActionTexts } from './actions';
import { useBarWords } from './barWords';
import type { Ghost } from './ghosts';
import type { Bar, Lane } from './layout';
import { endField } from './model';
import { outline, type Wave } from './sounds';
import { beside, narrowest, rowsOf } from './timeline';
import type { Editor } from './useEditor';

/** Pixels of a row of bars. */
const rowHeight = 30;

interface LaneProps {
  editor: Editor;
  lane?: Lane;
  ghosts: readonly Ghost[];
  name: string;
  total: number;
  scale: number;
  waves: ReadonlyMap<string, Wave>;
  moving?: ReadonlySet<string>;
  onBegin: (e: PointerEvent<HTMLElement>, b: Bar, how: 'move' | 'end') => void;
  onChoose: (b: Bar, many: boolean) => void;
  onBarKey: (e: KeyboardEvent, b: Bar) => void;
}

/** A lane with its bars and those of the acts that it performs. */
export function LaneRow({
  editor,
  lane,
  ghosts,
  name,
  total,
  scale,
  waves,
  moving,
  onBegin,
  onChoose,
  onBarKey,
}: LaneProps) {
  const laneNames: Record<string, string> = useActionTexts().lanes;
  const bars = lane?.bars ?? [];
  const all = [...bars, ...ghosts];
  const rows = rowsOf(all, scale);
  const aside = beside(all, total, scale);
  const [kind, unit] = name.split('/');
  const styleOf = (b: { start: number; end: number }, k: number) => ({
    insetInlineStart: b.start * scale,
    inlineSize: Math.max(narrowest, (b.end - b.start) * scale),
    top: rows[k]! * rowHeight + 2,
  });
  // Pixels behind each bar until the next one in its row, from the last to the first.
  const rooms: number[] = [];
  const next = new Map<number, number>();
  for (const k of all.map((_, n) => n).sort((m, n) => all[n]!.start - all[m]!.start)) {
    const { insetInlineStart, inlineSize } = styleOf(all[k]!, k);
    rooms[k] = (next.get(rows[k]!) ?? Infinity) - insetInlineStart - inlineSize;
    next.set(rows[k]!, insetInlineStart);
  }
  return (
    <div className="lane">
      <span className="lane-name">{unit || laneNames[kind!] || kind}</span>
      <div className="lane-bars" style={{ height: rowHeight * (Math.max(0, ...rows) + 1), width: total * scale }}>
        {bars.map((b, k) => (
          <OwnBar
            key={b.key}
            editor={editor}
            b={b}
            style={styleOf(b, k)}
            scale={scale}
            wave={waves.get(String(b.item.fields.sound))}
            beside={aside[k]}
            moving={moving?.has(b.key)}
            room={rooms[k]!}
            onBegin={onBegin}
            onChoose={onChoose}
            onBarKey={onBarKey}
          />
        ))}
        {ghosts.map((g, n) => (
          <button
            key={n}
            type="button"
            className="bar ghost"
            title={g.label}
            aria-label={g.label}
            style={styleOf(g, bars.length + n)}
            onClick={() => editor.select([g.owner])}
          >
            {g.color && <span className="bar-color" style={{ backgroundColor: g.color }} />}
            <span className="bar-words" dir="auto">
              {g.lang && <b>{g.lang} </b>}
              {g.what}
            </span>
          </button>
        ))}
      </div>
    </div>
  );
}

interface BarProps extends Pick<LaneProps, 'editor' | 'onBegin' | 'onChoose' | 'onBarKey' | 'scale'> {
  b: Bar;
  style: { insetInlineStart: number; inlineSize: number; top: number };
  wave?: Wave;
  beside?: { from: number; room: number };
  moving?: boolean;
  /** Pixels behind it that no other bar of its row takes. */
  room: number;
}

function OwnBar({ editor, b, style, scale, wave, beside: words, moving, room, onBegin, onChoose, onBarKey }: BarProps) {
  const barWords = useBarWords(editor);
  const nameOf = useNameOf('act');
  const { item } = b;
  const isChosen = editor.selected.includes(b.key);
  const what = item.fields.act ? nameOf(String(item.fields.act)) : barWords.short(b);
  const label = barWords.label(b);
  const color = typeof item.fields.colour === 'string' ? item.fields.colour : '';
  const stretches = editor.kind === 'act' && endField(item) === 'end_ms' && editor.mayEdit;
  return (
    <>
      <button
        type="button"
        className="bar"
        data-bar={b.key}
        data-kind={item.fields.act ? 'act' : String(item.fields.type ?? 'act')}
        data-chosen={isChosen || undefined}
        data-moving={moving || undefined}
        data-conflict={b.conflict || undefined}
        data-estimated={b.estimated || undefined}
        data-incomplete={b.incomplete || undefined}
        data-waits={b.waits > 0 || undefined}
        data-moment={b.end === b.start || undefined}
        aria-pressed={isChosen}
        aria-label={label}
        title={label}
        style={style}
        onFocus={(e) => {
          // Browsers leave a wide bar where it is if an edge of it is in view.
          if (e.currentTarget.matches(':focus-visible'))
            e.currentTarget.scrollIntoView({ block: 'nearest', inline: 'nearest' });
        }}
        onPointerDown={(e) => onBegin(e, b, 'move')}
        onClick={(e) => onChoose(b, e.ctrlKey || e.metaKey || e.shiftKey)}
        onKeyDown={(e) => onBarKey(e, b)}
      >
        {wave && (
          <svg className="bar-wave" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden>
            <path d={outline(wave.peaks)} />
          </svg>
        )}
        {color && <span className="bar-color" style={{ backgroundColor: color }} />}
        <span className="bar-words" dir="auto">
          {b.conflict ? '⚠ ' : ''}
          {barWords.otherLanguage(b) && <b>{barWords.otherLanguage(b)} </b>}
          {what}
        </span>
        {barWords.speech(b).map((s) => (
          <span
            key={s.lang}
            className="bar-language"
            style={{ insetInlineStart: Math.max(6, s.ms * scale - 1) }}
            data-lang={s.lang}
            aria-hidden
          />
        ))}
        {stretches && <span className="bar-end" aria-hidden onPointerDown={(e) => onBegin(e, b, 'end')} />}
      </button>
      {stretches && room >= 16 && (
        <span
          aria-hidden
          className="bar-reach"
          style={{ insetInlineStart: style.insetInlineStart + style.inlineSize, top: style.top }}
          onPointerDown={(e) => onBegin(e, b, 'end')}
        />
      )}
      {words && (
        <span
          aria-hidden
          className="bar-beside"
          style={{ ...style, marginInlineStart: words.from, inlineSize: 'fit-content', maxInlineSize: words.room }}
        >
          {what}
        </span>
      )}
    </>
  );
}
