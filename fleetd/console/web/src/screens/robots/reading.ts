import { type PointerEvent, useEffect, useRef } from 'react';

/** With what somebody reads the list; undefined if with nothing that points at it. */
export type Reading = 'mouse' | 'touch' | undefined;

/** ms after a touch for which somebody still reads what was there. */
const reads = 3000;

/** Says when somebody points at the list: its order stays while a mouse is over it, and for a while after each touch. */
export function useReading(tell: (by: Reading) => void) {
  const end = useRef<number>(undefined);
  const touching = useRef<() => void>(undefined);
  useEffect(
    () => () => {
      clearTimeout(end.current);
      touching.current?.();
    },
    [],
  );
  return {
    onPointerEnter: (e: PointerEvent) => {
      if (e.pointerType === 'mouse') tell('mouse');
    },
    onPointerLeave: (e: PointerEvent) => {
      if (e.pointerType === 'mouse') tell(undefined);
    },
    onPointerDown: (e: PointerEvent) => {
      if (e.pointerType === 'mouse') return;
      clearTimeout(end.current);
      touching.current?.();
      tell('touch');
      // The row may be gone when the finger is lifted, so the window says it.
      const lifted = () => {
        touching.current?.();
        end.current = window.setTimeout(() => tell(undefined), reads);
      };
      window.addEventListener('pointerup', lifted);
      window.addEventListener('pointercancel', lifted);
      touching.current = () => {
        window.removeEventListener('pointerup', lifted);
        window.removeEventListener('pointercancel', lifted);
      };
    },
  };
}
