import { Text, VisuallyHidden } from '@mantine/core';
import {
  type DragEvent,
  type KeyboardEvent,
  type PointerEvent,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';

import { useLanguage } from '../../text/language';
import { languageName, sameLanguage } from '../../text/multilingual';
import { position } from '../../text/position';
import { useNameOf } from '../library/api';
import { useActionTexts } from './actions';
import { useBarWords } from './barWords';
import { copyToClipboard, draggedType, pasteFrom, type Dragged } from './clipboard';
import { type Bar, lanesOf, type Lane, placeAt, snapped } from './layout';
import { copied, endField, find, insertAt, itemOf, move, moveBy, positionOf, remove, shift, stretch } from './model';
import type { Player } from './player';
import { outline, type Wave } from './sounds';
import { beside, colorIn, gridOf, narrowest, rowsOf, tick, wordsOf } from './timeline';
import { useTimelineTexts } from './timelineText';
import { useTurnTexts } from './turnText';
import type { Editor } from './useEditor';

/** Pixels of a row of bars. */
const rowHeight = 30;
/** Pixels within which a bar snaps to the edge of another. */
const reach = 7;
/** Pixels from which on a press that moves is a drag. */
const isDrag = 4;

interface SheetProps {
  editor: Editor;
  player: Player;
  bars: Bar[];
  length: number;
  /** ms of the whole sheet. */
  total: number;
  /** Pixels per ms. */
  scale: number;
  zoomBy: (factor: number) => void;
  waves: ReadonlyMap<string, Wave>;
}

/** What is dragged: bars by so many ms, or their ends. */
interface Drag {
  keys: readonly string[];
  by: number;
  how: 'move' | 'end';
}

/** The lanes, with bars that are moved and stretched by dragging or by keys. */
export function Sheet({ editor, player, bars, length, total, scale, zoomBy, waves }: SheetProps) {
  const t = useTimelineTexts();
  const { kind, doc, selected, mayEdit } = editor;
  const scroll = useRef<HTMLDivElement>(null);
  const sheet = useRef<HTMLDivElement>(null);
  const [drag, setDrag] = useState<Drag>();
  const [band, setBand] = useState<{ left: number; top: number; width: number; height: number }>();
  const [said, setSaid] = useState('');
  const refocus = useRef<string>(undefined);
  const barWords = useBarWords(editor);

  const grid = gridOf(scale);
  const msAt = (clientX: number) => {
    const box = sheet.current!.getBoundingClientRect();
    const x = getComputedStyle(sheet.current!).direction === 'rtl' ? box.right - clientX : clientX - box.left;
    return Math.max(0, x / scale);
  };
  const keysWith = (keys: readonly string[]) => {
    const all = new Set(keys);
    for (const b of bars) if ([...all].some((k) => k !== b.key && inside(doc, k, b.key))) all.add(b.key);
    return all;
  };
  const moving = drag && keysWith(drag.keys);
  const shown = !drag
    ? bars
    : bars.map((b) =>
        !moving!.has(b.key)
          ? b
          : drag.how === 'end'
            ? { ...b, end: Math.max(b.start + 100, b.end + drag.by) }
            : { ...b, start: b.start + drag.by, end: b.end + drag.by },
      );
  const lanes = lanesOf(shown);
  const ghosts = useGhosts(editor, bars);

  // A bar that was moved may be another element now.
  useLayoutEffect(() => {
    if (!refocus.current) return;
    scroll.current?.querySelector<HTMLElement>(`[data-bar="${refocus.current}"]`)?.focus({ preventScroll: true });
    refocus.current = undefined;
  }, [doc]);

  const describe = (b: Bar) => t.bar(barWords(b), position(b.start), position(b.end));

  const begin = (e: PointerEvent<HTMLElement>, b: Bar, how: Drag['how']) => {
    if (e.button !== 0 || !mayEdit || e.ctrlKey || e.metaKey || e.shiftKey) return;
    if (how === 'end') e.stopPropagation();
    const from = e.clientX;
    const keys = selected.includes(b.key) && how === 'move' ? selected : [b.key];
    const edges = bars
      .filter((o) => !keysWith(keys).has(o.key))
      .flatMap((o) => [o.start, o.end])
      .concat(player.ms, 0);
    const rtl = getComputedStyle(e.currentTarget).direction === 'rtl' ? -1 : 1;
    let by = 0;
    let drags = false;
    const onMove = (m: globalThis.PointerEvent) => {
      const px = (m.clientX - from) * rtl;
      if (!drags && Math.abs(px) < isDrag) return;
      drags = true;
      const free = px / scale;
      const near = m.altKey ? [] : edges;
      by =
        how === 'end'
          ? snapped(free, { start: b.end, end: b.end }, near, m.altKey ? 10 : grid, reach / scale)
          : snapped(free, b, near, m.altKey ? 10 : grid, reach / scale);
      setDrag({ keys, by, how });
    };
    const end = (m: globalThis.PointerEvent | globalThis.KeyboardEvent) => {
      if (m instanceof KeyboardEvent && m.key !== 'Escape') return;
      window.removeEventListener('pointermove', onMove);
      window.removeEventListener('pointerup', end);
      window.removeEventListener('pointercancel', end);
      window.removeEventListener('keydown', end);
      setDrag(undefined);
      if (!drags) return;
      // The press that ends a drag is no press of the bar.
      const eat = (c: MouseEvent) => (c.preventDefault(), c.stopPropagation());
      window.addEventListener('click', eat, { capture: true, once: true });
      setTimeout(() => window.removeEventListener('click', eat, { capture: true }), 50);
      if (m.type === 'pointerup') drop(keys, by, how, b);
    };
    window.addEventListener('pointermove', onMove);
    window.addEventListener('pointerup', end);
    window.addEventListener('pointercancel', end);
    window.addEventListener('keydown', end);
  };

  const drop = (keys: readonly string[], by: number, how: Drag['how'], b: Bar) => {
    if (kind !== 'act') {
      const index = placeAt(bars, keys, (b.start + b.end) / 2 + by);
      editor.change(move(kind, doc, keys, { index }));
      setSaid(`${barWords(b)}: ${t.placed(index + 1)}`);
    } else {
      editor.change(how === 'end' ? stretch(doc, keys, by) : shift(doc, keys, by));
      const to =
        how === 'end' ? { ...b, end: b.end + by } : { ...b, start: Math.max(0, b.start + by), end: b.end + by };
      setSaid(describe(to));
    }
    if (!keys.every((k) => selected.includes(k))) editor.select(keys);
    refocus.current = b.key;
  };

  const choose = (b: Bar, many: boolean) => {
    if (!many) return editor.select([b.key]);
    editor.select(selected.includes(b.key) ? selected.filter((k) => k !== b.key) : [...selected, b.key], true);
  };

  /** The keys of a bar; those that it takes are not taken by others. */
  const onBarKey = (e: KeyboardEvent, b: Bar) => {
    const keys = selected.includes(b.key) ? selected : [b.key];
    const command = e.ctrlKey || e.metaKey;
    const did = () => (e.preventDefault(), e.stopPropagation());
    const rtl = getComputedStyle(e.currentTarget).direction === 'rtl' ? -1 : 1;
    const way = e.key === 'ArrowRight' ? rtl : e.key === 'ArrowLeft' ? -rtl : 0;
    if (e.key === ' ') {
      did();
      if (player.playing) player.pause();
      else player.play();
    } else if (e.key === 'ArrowUp' || e.key === 'ArrowDown') {
      did();
      const all = [...scroll.current!.querySelectorAll<HTMLElement>('[data-bar]')];
      all[all.indexOf(e.currentTarget as HTMLElement) + (e.key === 'ArrowDown' ? 1 : -1)]?.focus();
    } else if (way !== 0 && mayEdit) {
      did();
      refocus.current = b.key;
      if (kind !== 'act') {
        const next = moveBy(kind, doc, keys, way as 1 | -1);
        editor.change(next);
        setSaid(`${barWords(b)}: ${t.placed((positionOf(next, b.key)?.index ?? 0) + 1)}`);
        return;
      }
      const by = way * (command ? 10 : 1) * 100;
      const next = e.shiftKey ? stretch(doc, keys, by) : shift(doc, keys, by);
      editor.change(next, `${b.key}/${e.shiftKey ? 'end' : 'start'}`);
      const item = find(next, b.key)!;
      if (e.shiftKey && endField(item) === 'timeout_ms')
        setSaid(`${barWords(b)}: ${t.ends} ${position(Number(item.fields.timeout_ms))}`);
      else
        setSaid(
          describe({
            ...b,
            start: e.shiftKey ? b.start : Math.max(0, b.start + by),
            end: Math.max(b.start, b.end + by),
          }),
        );
    } else if (e.key === 'Delete' || e.key === 'Backspace') {
      if (!mayEdit) return;
      did();
      editor.change(remove(doc, keys));
      editor.select([]);
      setSaid(t.removed(keys.length));
    } else if (command && e.key === 'a') {
      did();
      editor.select(
        bars.filter((o) => !positionOf(doc, o.key)?.parent).map((o) => o.key),
        true,
      );
    } else if (e.key === 'Escape') editor.select([]);
  };

  // Copy and paste are events, so that the menu of the browser works as keys do.
  useEffect(() => {
    const mine = () => !!document.activeElement?.closest('[data-timeline]') && !document.activeElement.matches('input');
    const copy = (e: ClipboardEvent) => {
      if (!mine() || selected.length === 0) return;
      e.preventDefault();
      copyToClipboard(e.clipboardData, copied(kind, doc, selected));
      setSaid(t.copied(selected.length));
      if (e.type !== 'cut' || !mayEdit) return;
      editor.change(remove(doc, selected));
      editor.select([]);
    };
    const paste = (e: ClipboardEvent) => {
      const values = mine() && mayEdit ? pasteFrom(e.clipboardData, kind) : [];
      if (values.length === 0) return;
      e.preventDefault();
      add(values, player.ms > 0 ? player.ms : length);
      setSaid(t.pasted(values.length));
    };
    document.addEventListener('copy', copy);
    document.addEventListener('cut', copy);
    document.addEventListener('paste', paste);
    return () => {
      document.removeEventListener('copy', copy);
      document.removeEventListener('cut', copy);
      document.removeEventListener('paste', paste);
    };
  });

  const add = (values: Record<string, unknown>[], ms: number) => {
    const items = values.map(itemOf);
    if (kind === 'act') editor.change(insertAt(doc, Math.round(ms / 10) * 10, items));
    else {
      const index = placeAt(bars, [], ms);
      editor.change({ ...doc, items: [...doc.items.slice(0, index), ...items, ...doc.items.slice(index)] });
    }
    editor.select(items.map((i) => i.key));
    refocus.current = items[0]!.key;
  };

  const onDrop = (e: DragEvent) => {
    const text = e.dataTransfer.getData(draggedType);
    if (!text || !mayEdit) return;
    e.preventDefault();
    const dragged = JSON.parse(text) as Dragged;
    add([dragged.fields], Math.round(msAt(e.clientX) / grid) * grid);
  };

  /** A press on an empty place sets the cursor; a drag there chooses what it touches. */
  const onEmpty = (e: PointerEvent<HTMLDivElement>) => {
    if (e.button !== 0 || (e.target as HTMLElement).closest('[data-bar], .ghost, .ruler')) return;
    const target = e.currentTarget;
    const [x, y] = [e.clientX, e.clientY];
    let area: DOMRect | undefined;
    const onMove = (m: globalThis.PointerEvent) => {
      if (m.pointerType === 'touch' || (!area && Math.hypot(m.clientX - x, m.clientY - y) < isDrag)) return;
      const box = target.getBoundingClientRect();
      area = new DOMRect(
        Math.min(x, m.clientX),
        Math.min(y, m.clientY),
        Math.abs(m.clientX - x),
        Math.abs(m.clientY - y),
      );
      setBand({ left: area.left - box.left, top: area.top - box.top, width: area.width, height: area.height });
    };
    const end = (m: globalThis.PointerEvent) => {
      window.removeEventListener('pointermove', onMove);
      window.removeEventListener('pointerup', end);
      window.removeEventListener('pointercancel', end);
      setBand(undefined);
      if (m.type !== 'pointerup') return;
      if (!area) return player.seek(Math.round(msAt(x) / grid) * grid);
      const hit = [...target.querySelectorAll<HTMLElement>('[data-bar]')].filter((el) => {
        const r = el.getBoundingClientRect();
        return r.left < area!.right && r.right > area!.left && r.top < area!.bottom && r.bottom > area!.top;
      });
      editor.select(
        hit.map((el) => el.dataset.bar!),
        hit.length > 1,
      );
    };
    window.addEventListener('pointermove', onMove);
    window.addEventListener('pointerup', end);
    window.addEventListener('pointercancel', end);
  };

  const names = [...new Set([...lanes.map((l) => laneKey(l)), ...ghosts.map((g) => laneKey(g))])];
  return (
    <div
      ref={scroll}
      className="timeline"
      role="group"
      aria-label={t.timeline}
      tabIndex={0}
      onWheel={(e) => {
        if (e.ctrlKey && e.deltaY !== 0) zoomBy(e.deltaY < 0 ? 1.25 : 0.8);
      }}
    >
      <div className="sheet" onPointerDown={onEmpty} onDragOver={(e) => mayEdit && e.preventDefault()} onDrop={onDrop}>
        <div className="lane">
          <span className="lane-name" />
          <div ref={sheet} className="lane-bars scale" style={{ width: total * scale }}>
            <Ruler player={player} scale={scale} total={total} length={length} msAt={msAt} grid={grid} />
          </div>
        </div>
        {names.map((name) => (
          <LaneRow
            key={name}
            editor={editor}
            lane={lanes.find((l) => laneKey(l) === name)}
            ghosts={ghosts.find((l) => laneKey(l) === name)?.bars ?? []}
            name={name}
            total={total}
            scale={scale}
            waves={waves}
            moving={moving}
            onBegin={begin}
            onChoose={choose}
            onBarKey={onBarKey}
          />
        ))}
        {bars.length === 0 && (
          <Text c="dimmed" size="sm" py="lg" px="md">
            {t.empty[kind]}
          </Text>
        )}
        <Marks bars={shown} scale={scale} length={length} />
        <Cursor player={player} scale={scale} scroll={scroll} />
        {band && <span className="band" style={band} aria-hidden />}
      </div>
      <VisuallyHidden role="status">{said}</VisuallyHidden>
    </div>
  );
}

const laneKey = (l: { name: string; unit: string }) => `${l.name}/${l.unit}`;

/** Whether an item is in a group. */
const inside = (doc: Editor['doc'], group: string, key: string): boolean => {
  const g = find(doc, group);
  return !!g?.children && !!find({ head: {}, items: g.children }, key);
};

/** What the acts do that the draft performs: not its own, so it is only looked at. */
interface Ghost {
  start: number;
  end: number;
  what: string;
  label: string;
  color: string;
  owner: string;
  lang: string;
}

function useGhosts(editor: Editor, bars: readonly Bar[]): { name: string; unit: string; bars: Ghost[] }[] {
  const t = useTimelineTexts();
  const turns = useTurnTexts();
  const reader = useLanguage((s) => s.language);
  const { kind } = editor;
  const own = new Set(bars.map((b) => b.pointer));
  const lanes = new Map<string, { name: string; unit: string; bars: Ghost[] }>();
  for (const lane of editor.check.timeline?.lanes ?? [])
    for (const b of lane.bars ?? []) {
      if (kind === 'act' && own.has(b.pointer)) continue;
      const owner = kind === 'act' ? bars.findLast((o) => b.pointer.startsWith(`${o.pointer}/`)) : bars[b.step ?? 0];
      if (!owner) continue;
      const [what, color] = [wordsOf(b, turns), colorIn(b)];
      const other = b.lang && !sameLanguage(b.lang, editor.lang) ? b.lang : '';
      const label = [
        t.bar([...new Set([b.type, what, color])].filter(Boolean).join(' '), position(b.start_ms), position(b.end_ms)),
        other && t.inLanguage(languageName(other, reader)),
        b.estimated && t.estimated,
        b.waits_ms && t.waits(position(b.waits_ms)),
      ]
        .filter(Boolean)
        .join(', ');
      const name = { name: lane.class as string, unit: lane.unit ?? '' };
      const at = laneKey(name);
      if (!lanes.has(at)) lanes.set(at, { ...name, bars: [] });
      lanes.get(at)!.bars.push({ start: b.start_ms, end: b.end_ms, what, label, color, owner: owner.key, lang: other });
    }
  return [...lanes.values()];
}

interface LaneProps {
  editor: Editor;
  lane?: Lane;
  ghosts: readonly Ghost[];
  name: string;
  total: number;
  scale: number;
  waves: ReadonlyMap<string, Wave>;
  moving?: ReadonlySet<string>;
  onBegin: (e: PointerEvent<HTMLElement>, b: Bar, how: Drag['how']) => void;
  onChoose: (b: Bar, many: boolean) => void;
  onBarKey: (e: KeyboardEvent, b: Bar) => void;
}

function LaneRow({ editor, lane, ghosts, name, total, scale, waves, moving, onBegin, onChoose, onBarKey }: LaneProps) {
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
            <span className="bar-words">
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
}

function OwnBar({ editor, b, style, scale, wave, beside: words, moving, onBegin, onChoose, onBarKey }: BarProps) {
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
        <span className="bar-words">
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

interface RulerProps {
  player: Player;
  scale: number;
  total: number;
  length: number;
  grid: number;
  msAt: (clientX: number) => number;
}

/** The scale of time; a press or a drag on it moves the cursor, and so do keys. */
function Ruler({ player, scale, total, length, grid, msAt }: RulerProps) {
  const t = useTimelineTexts();
  const step = tick(scale);
  const at = useSyncExternalStore(player.subscribe, () => Math.round(player.ms / 100) * 100);
  const to = (e: PointerEvent) => player.seek(Math.min(length, Math.round(msAt(e.clientX) / grid) * grid));
  const onKey = (e: KeyboardEvent) => {
    const rtl = getComputedStyle(e.currentTarget).direction === 'rtl' ? -1 : 1;
    const way = e.key === 'ArrowRight' ? rtl : e.key === 'ArrowLeft' ? -rtl : 0;
    const next =
      e.key === 'Home'
        ? 0
        : e.key === 'End'
          ? length
          : way === 0
            ? undefined
            : player.ms + way * (e.shiftKey ? 1000 : 100);
    if (e.key === ' ') {
      if (player.playing) player.pause();
      else player.play();
    } else if (next !== undefined) player.seek(Math.min(length, next));
    else return;
    e.preventDefault();
  };
  return (
    <div
      className="ruler"
      role="slider"
      tabIndex={0}
      aria-label={t.cursor}
      aria-valuemin={0}
      aria-valuemax={length}
      aria-valuenow={Math.min(at, length)}
      aria-valuetext={position(at)}
      onKeyDown={onKey}
      onPointerDown={(e) => {
        e.currentTarget.setPointerCapture(e.pointerId);
        to(e);
      }}
      onPointerMove={(e) => e.buttons === 1 && to(e)}
    >
      {Array.from({ length: Math.floor(total / step) + 1 }, (_, n) => (
        <span key={n} style={{ insetInlineStart: n * step * scale }}>
          {position(n * step)}
        </span>
      ))}
    </div>
  );
}

/** Lines where something begins that others count from: a group, an act, and the end of the whole. */
function Marks({ bars, scale, length }: { bars: readonly Bar[]; scale: number; length: number }) {
  const at = new Set(
    bars
      .filter((b) => b.item.children || b.item.fields.act || b.item.fields.method === 'exclusive')
      .map((b) => b.start),
  );
  return (
    <div className="lane cursor-lane" aria-hidden>
      <span className="lane-name" />
      <div className="lane-bars">
        {[...at].map((ms) => (
          <span key={ms} className="cue-mark" style={{ insetInlineStart: ms * scale }} />
        ))}
        {length > 0 && <span className="cue-mark" data-end style={{ insetInlineStart: length * scale }} />}
      </div>
    </div>
  );
}

/** The cursor; it stays in view on a sheet that is wider than the screen. */
function Cursor({
  player,
  scale,
  scroll,
}: {
  player: Player;
  scale: number;
  scroll: { current: HTMLDivElement | null };
}) {
  const mark = useRef<HTMLSpanElement>(null);
  const ms = useSyncExternalStore(player.subscribe, () => player.ms);
  useEffect(() => {
    if (!player.playing) return;
    const [of, at] = [scroll.current?.getBoundingClientRect(), mark.current?.getBoundingClientRect()];
    if (!of || !at || (at.left >= of.left + 80 && at.right <= of.right)) return;
    scroll.current!.scrollBy({ left: at.left - (of.left + of.width / 4) });
  }, [ms]);
  return (
    <div className="lane cursor-lane" aria-hidden>
      <span className="lane-name" />
      <div className="lane-bars">
        <span ref={mark} className="cursor" style={{ insetInlineStart: ms * scale }} />
      </div>
    </div>
  );
}
