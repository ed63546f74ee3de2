import type { SpotlightStore } from '@mantine/spotlight';
import { type FocusEvent, useEffect, useRef } from 'react';

/**
 * Writes the keys typed between the opening of the palette and the focus of its field into the
 * field. Without this they belong to the page below, where "s" and a space stop the robot.
 * Returns what the field calls when it has the focus.
 */
export function useEarlyKeys(palette: SpotlightStore) {
  const early = useRef<string | undefined>(''); // undefined: the field has had the focus since the opening
  const field = useRef<HTMLInputElement>(undefined); // the last one that had the focus
  useEffect(() => {
    const closed = palette.subscribe(({ opened }) => {
      if (!opened) early.current = '';
    });
    const keep = (e: KeyboardEvent) => {
      if (!palette.getState().opened || early.current === undefined || e.ctrlKey || e.metaKey || e.altKey) return;
      if (e.target === field.current) return; // opened again before it was gone, it kept the focus
      if (e.key.length === 1) early.current += e.key;
      else if (e.key !== 'Enter') return;
      e.preventDefault();
      e.stopPropagation();
    };
    window.addEventListener('keydown', keep, true);
    return () => {
      closed();
      window.removeEventListener('keydown', keep, true);
    };
  }, [palette]);
  return (e: FocusEvent<HTMLInputElement>) => {
    if (early.current) write(e.currentTarget, early.current);
    early.current = undefined;
    field.current = e.currentTarget;
  };
}

/** Writes as a person does, so that React sees the change. */
function write(field: HTMLInputElement, text: string) {
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')!.set!.call(field, text);
  field.dispatchEvent(new Event('input', { bubbles: true }));
}
