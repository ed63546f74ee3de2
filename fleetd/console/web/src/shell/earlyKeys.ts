import type { SpotlightStore } from '@mantine/spotlight';
import { type FocusEvent, useEffect, useRef } from 'react';

/**
 * Writes the keys typed between the opening of the palette and the focus of its field into the
 * field. Without this they belong to the page below, where "s" and Enter stop the robot. Enter
 * among them ends the text, and calls enter with it. Returns what the field calls when it has the focus.
 */
export function useEarlyKeys(palette: SpotlightStore, enter: (text: string) => void) {
  const early = useRef<string | undefined>(''); // undefined: the field has had the focus since the opening
  const entered = useRef(false);
  const field = useRef<HTMLInputElement>(undefined); // the last one that had the focus
  useEffect(() => {
    const closed = palette.subscribe(({ opened }) => {
      if (opened) return;
      early.current = '';
      entered.current = false;
    });
    const keep = (e: KeyboardEvent) => {
      if (!palette.getState().opened || early.current === undefined || e.ctrlKey || e.metaKey || e.altKey) return;
      if (e.target === field.current) return; // opened again before it was gone, it kept the focus
      if (e.key === 'Enter') entered.current = true;
      else if (e.key.length !== 1) return;
      else if (!entered.current) early.current += e.key;
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
    const text = early.current;
    early.current = undefined;
    field.current = e.currentTarget;
    if (text) write(e.currentTarget, text);
    if (text && entered.current) enter(text);
  };
}

/** Writes as a person does, so that React sees the change. */
function write(field: HTMLInputElement, text: string) {
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')!.set!.call(field, text);
  field.dispatchEvent(new Event('input', { bubbles: true }));
}
