import { type RefObject, useEffect } from 'react';

const topDialog = () => [...document.querySelectorAll<HTMLElement>('[aria-modal="true"]')].at(-1);

/** Puts the stop into the round that Tab makes in a dialog: after its last control, and before its first. */
export function useTabToStop(stop: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    let from: Element | null = null;
    const before = (e: KeyboardEvent) => {
      if (e.key !== 'Tab') return;
      from = document.activeElement;
      const dialog = topDialog();
      if (!dialog || from !== stop.current) return;
      e.preventDefault();
      from = null;
      dialog.focus();
    };
    // The dialog has moved the focus by then: backwards in the document means that it began again.
    const after = (e: KeyboardEvent) => {
      const dialog = topDialog();
      const to = document.activeElement;
      if (e.key !== 'Tab' || !e.defaultPrevented || !dialog || !from || !to) return;
      if (from === dialog || !dialog.contains(from)) return;
      const back = e.shiftKey ? Node.DOCUMENT_POSITION_FOLLOWING : Node.DOCUMENT_POSITION_PRECEDING;
      const only = to === from && from.tagName === 'BUTTON';
      if (only || from.compareDocumentPosition(to) & back) stop.current?.focus();
    };
    window.addEventListener('keydown', before, true);
    window.addEventListener('keydown', after);
    return () => {
      window.removeEventListener('keydown', before, true);
      window.removeEventListener('keydown', after);
    };
  }, []);
}
