import { type KeyboardEvent, type MouseEvent, useEffect, useRef, useState } from 'react';

/** ms for which the stop of several robots is held. */
const hold = 1000;
/** ms for which the button says that it was let go too early. */
const noted = 6000;

const isKey = (key: string) => key === ' ' || key === 'Enter';

/** A button that does its work after a second of holding, by pointer or key. It says when it was let go too early. */
export function useHold(needed: boolean, work: () => unknown) {
  const timer = useRef<number>(undefined);
  const note = useRef<number>(undefined);
  const [holding, setHolding] = useState(false);
  const [early, setEarly] = useState(false);
  const begin = () => {
    if (!needed || timer.current) return;
    clearTimeout(note.current);
    setEarly(false);
    setHolding(true);
    timer.current = window.setTimeout(() => {
      timer.current = undefined;
      setHolding(false);
      void work();
    }, hold);
  };
  const end = () => {
    if (!timer.current) return;
    clearTimeout(timer.current);
    timer.current = undefined;
    setHolding(false);
    setEarly(true);
    note.current = window.setTimeout(() => setEarly(false), noted);
  };
  // The next press, wherever it is, has read it.
  useEffect(() => {
    if (!early) return undefined;
    const read = () => setEarly(false);
    window.addEventListener('pointerdown', read, true);
    return () => window.removeEventListener('pointerdown', read, true);
  }, [early]);
  return {
    early: early && needed,
    button: {
      className: 'hold',
      'data-holding': holding || undefined,
      onPointerDown: begin,
      onPointerUp: end,
      onPointerLeave: end,
      onPointerCancel: end,
      onBlur: end,
      onContextMenu: (e: MouseEvent) => e.preventDefault(),
      onKeyDown: (e: KeyboardEvent) => isKey(e.key) && !e.repeat && begin(),
      onKeyUp: (e: KeyboardEvent) => isKey(e.key) && end(),
    },
  };
}

/** What a button says that was let go too early, where it covers nothing of the page. It is always there, so that screen readers hear it change. */
export function HoldNote({ text, at }: { text: string; at: 'above' | 'beside' }) {
  return (
    <div className="hold-note" role="status" data-at={at}>
      {text}
    </div>
  );
}
