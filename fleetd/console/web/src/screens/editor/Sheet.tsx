import { Text, VisuallyHidden } from '@mantine/core';
import {
  type DragEvent,
  type KeyboardEvent,
  type PointerEvent,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';

import { position } from '../../text/position';
import { useBarWords } from './barWords';
import { copyToClipboard, draggedType, pasteFrom, type Dragged } from './clipboard';
import { laneKey, useGhosts } from './ghosts';
import { LaneRow } from './LaneRow';
import { type Bar, lanesOf, placeAt, snapped } from './layout';
import { copied, endField, find, insertAt, itemOf, move, moveBy, positionOf, remove, shift, stretch } from './model';
import type { Player } from './player';
import { Cursor, Marks, Ruler } from './Ruler';
import type { Wave } from './sounds';
import { gridOf } from './timeline';
import { useTimelineTexts } from './timelineText';
import type { Editor } from './useEditor';

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
      // The fields beside the timeline are those of what is dragged.
      if (!drags && !keys.every((k) => selected.includes(k))) editor.select(keys);
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
    if (e.button !== 0 || (e.target as HTMLElement).closest('[data-bar], .bar-reach, .ghost, .ruler')) return;
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

/** Whether an item is in a group. */
const inside = (doc: Editor['doc'], group: string, key: string): boolean => {
  const g = find(doc, group);
  return !!g?.children && !!find({ head: {}, items: g.children }, key);
};
