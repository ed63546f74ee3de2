import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useSyncExternalStore } from 'react';

import { position } from '../../text/position';
import type { Bar } from './layout';
import type { Player } from './player';
import { tick } from './timeline';
import { useTimelineTexts } from './timelineText';

interface RulerProps {
  player: Player;
  scale: number;
  total: number;
  length: number;
  grid: number;
  msAt: (clientX: number) => number;
}

/** The scale of time; a press or a drag on it moves the cursor, and so do keys. */
export function Ruler({ player, scale, total, length, grid, msAt }: RulerProps) {
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
export function Marks({ bars, scale, length }: { bars: readonly Bar[]; scale: number; length: number }) {
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
export function Cursor({
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
