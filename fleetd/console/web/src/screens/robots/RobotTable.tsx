import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, type RefObject, useEffect, useLayoutEffect, useRef } from 'react';

import { useRobot } from '../../live/robots';
import { useMe } from '../../api/me';
import { useIgnorePressesAfterChange, useIgnorePressesAfterMove } from '../../shell/press';
import { type ColumnID, looks } from './columns';
import type { Sorting } from './order';
import { type Reading, useReading } from './reading';
import classes from './robots.module.css';
import { useSelection } from './selection';
import { useRobotsTexts } from './text';

interface Props {
  ids: readonly string[];
  columns: readonly ColumnID[];
  compact: boolean;
  sorting: Sorting;
  onSort: (s: Sorting) => void;
  /** The row that the keys move. */
  active: string | undefined;
  onOpen: (id: string) => void;
  onReading: (by: Reading) => void;
}

/** The table: only the rows on the screen exist. */
export function RobotTable({ ids, columns, compact, sorting, onSort, active, onOpen, onReading }: Props) {
  const t = useRobotsTexts();
  const frame = useRef<HTMLDivElement>(null);
  const height = compact ? 30 : 42;
  const rows = useVirtualizer({
    count: ids.length,
    getScrollElement: () => frame.current,
    estimateSize: () => height,
    overscan: 6,
    scrollMargin: 0,
    useFlushSync: false,
  });
  useEffect(() => rows.measure(), [height]);
  useEffect(() => {
    const at = active === undefined ? -1 : ids.indexOf(active);
    if (at >= 0) rows.scrollToIndex(at, { align: 'auto' });
  }, [active]);

  useFill(frame);
  useIgnorePressesAfterMove(frame);
  const reading = useReading(onReading);

  const template = `44px ${columns.map((c) => looks[c].width).join(' ')}`;
  const sort = (c: ColumnID) =>
    onSort(
      sorting.column !== c
        ? { column: c, desc: false }
        : sorting.desc
          ? { column: 'problems', desc: false }
          : { column: c, desc: true },
    );
  return (
    <div
      ref={frame}
      className={classes.frame}
      role="grid"
      aria-label={t.table}
      aria-rowcount={ids.length + 1}
      aria-colcount={columns.length + 1}
      tabIndex={0}
      data-compact={compact || undefined}
      data-testid="robots"
      {...reading}
    >
      <div role="rowgroup" className={classes.head} style={{ gridTemplateColumns: template }}>
        <div role="row" aria-rowindex={1} style={{ display: 'contents' }}>
          <div role="columnheader" className={classes.headCell} aria-label={t.columns.select} />
          {columns.map((c) => (
            <div
              key={c}
              role="columnheader"
              className={classes.headCell}
              aria-sort={sorting.column === c ? (sorting.desc ? 'descending' : 'ascending') : 'none'}
            >
              <button type="button" className={classes.sort} title={t.sortBy(t.columns[c])} onClick={() => sort(c)}>
                {t.columns[c]}
                <span aria-hidden>{sorting.column === c ? (sorting.desc ? '▼' : '▲') : ''}</span>
              </button>
            </div>
          ))}
        </div>
      </div>
      <div role="rowgroup" className={classes.body} style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map((v) => {
          const id = ids[v.index];
          return (
            id !== undefined && (
              <Row
                key={id}
                id={id}
                index={v.index}
                top={v.start}
                height={height}
                template={template}
                columns={columns}
                active={active === id}
                onOpen={onOpen}
              />
            )
          );
        })}
      </div>
    </div>
  );
}

/** Makes an element as high as what is left of the window below its top. */
function useFill(of: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const e = of.current!;
    const fill = () => {
      const top = Math.round(e.getBoundingClientRect().top + window.scrollY);
      e.style.height = `calc(100dvh - ${top + 16}px - var(--below, 0px))`;
    };
    const above = new ResizeObserver(fill);
    above.observe(e.closest('main')!);
    if (e.parentElement?.parentElement) for (const one of e.parentElement.parentElement.children) above.observe(one);
    fill();
    return () => above.disconnect();
  }, [of]);
}

interface RowProps {
  id: string;
  index: number;
  top: number;
  height: number;
  template: string;
  columns: readonly ColumnID[];
  active: boolean;
  onOpen: (id: string) => void;
}

const Row = memo(function Row({ id, index, top, height, template, columns, active, onOpen }: RowProps) {
  const t = useRobotsTexts();
  const r = useRobot(id);
  const selected = useSelection((s) => !!s.filter || s.ids.has(id));
  const row = useRef<HTMLDivElement>(null);
  useIgnorePressesAfterChange(row, top);
  const away = r && r.presence.status !== 'online' && r.presence.status !== 'degraded';
  return (
    <div
      ref={row}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={selected}
      data-robot={id}
      data-selected={selected || undefined}
      data-active={active || undefined}
      className={away ? `${classes.row} ${classes.away}` : classes.row}
      style={{ gridTemplateColumns: template, height, transform: `translateY(${top}px)` }}
      onClick={() => onOpen(id)}
    >
      <div role="gridcell" className={classes.tick} onClick={(e) => e.stopPropagation()}>
        <Tick id={id} selected={selected} />
      </div>
      {r ? (
        columns.map((c) => {
          const { Cell } = looks[c];
          return (
            <div role="gridcell" key={c} className={classes.cell}>
              <Cell r={r} />
            </div>
          );
        })
      ) : (
        <div role="gridcell" className={classes.cell} style={{ gridColumn: '2 / -1' }}>
          {id} <span className={classes.dim}>{t.removed}</span>
        </div>
      )}
    </div>
  );
});

/** Also for a person who may do nothing to robots: the CSV of the selected ones needs it. */
export function Tick({ id, selected }: { id: string; selected: boolean }) {
  const t = useRobotsTexts();
  const toggle = useSelection((s) => s.toggle);
  const me = useMe();
  return (
    <input type="checkbox" aria-label={t.tick(id)} checked={selected} disabled={!me} onChange={() => toggle(id)} />
  );
}
