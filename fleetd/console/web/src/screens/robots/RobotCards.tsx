import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { memo, useLayoutEffect, useRef, useState } from 'react';

import { robotName } from '../../live/RobotName';
import { useRobot } from '../../live/robots';
import { useIgnorePressesAfterChange, useIgnorePressesAfterMove } from '../../shell/press';
import { Doing, Mode, Presence, Story } from './cells';
import { type Reading, useReading } from './reading';
import classes from './robots.module.css';
import { Tick } from './RobotTable';
import { useSelection } from './selection';
import { useRobotsTexts } from './text';

const height = 104;

interface Props {
  ids: readonly string[];
  onOpen: (id: string) => void;
  onReading: (by: Reading) => void;
}

/** The list on a phone. */
export function RobotCards({ ids, onOpen, onReading }: Props) {
  const t = useRobotsTexts();
  const frame = useRef<HTMLDivElement>(null);
  const [above, setAbove] = useState(0);
  useLayoutEffect(() => setAbove(frame.current?.offsetTop ?? 0), []);
  const cards = useWindowVirtualizer({
    count: ids.length,
    estimateSize: () => height,
    overscan: 4,
    scrollMargin: above,
    useFlushSync: false,
  });
  useIgnorePressesAfterMove(frame);
  const reading = useReading(onReading);
  return (
    <div
      ref={frame}
      {...reading}
      className={classes.cards}
      role="list"
      aria-label={t.title}
      style={{ height: cards.getTotalSize() }}
      data-testid="robots"
    >
      {cards.getVirtualItems().map((v) => {
        const id = ids[v.index];
        return id !== undefined && <Card key={id} id={id} top={v.start - above} onOpen={onOpen} />;
      })}
    </div>
  );
}

const Card = memo(function Card({ id, top, onOpen }: { id: string; top: number; onOpen: (id: string) => void }) {
  const t = useRobotsTexts();
  const r = useRobot(id);
  const selected = useSelection((s) => !!s.filter || s.ids.has(id));
  const card = useRef<HTMLDivElement>(null);
  useIgnorePressesAfterChange(card, top);
  return (
    <div
      ref={card}
      role="listitem"
      className={classes.card}
      data-robot={id}
      style={{ height, transform: `translateY(${top}px)` }}
    >
      <div className={classes.cardInner} data-selected={selected || undefined}>
        <div className={classes.tick}>
          <Tick id={id} selected={selected} />
        </div>
        <button type="button" className={classes.cardText} onClick={() => onOpen(id)}>
          <span>
            <b>{r ? robotName(r) : id}</b> {r && robotName(r) !== id && <span className={classes.dim}>{id} </span>}
            <span className={classes.dim}>{r?.labels.site}</span>
          </span>
          {r ? (
            <>
              <span>
                <Doing r={r} />
              </span>
              <span className={classes.dim}>
                <Presence r={r} /> · <Mode r={r} /> · <Story r={r} />
              </span>
            </>
          ) : (
            <span>{t.removed}</span>
          )}
        </button>
      </div>
    </div>
  );
});
