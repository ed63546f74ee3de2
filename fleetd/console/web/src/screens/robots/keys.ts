import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';

import { useSelection } from './selection';

const typing = (e: KeyboardEvent) =>
  e.target instanceof HTMLElement &&
  (e.target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(e.target.tagName) || isTextInput(e.target));

const isTextInput = (e: HTMLElement) => e instanceof HTMLInputElement && e.type !== 'checkbox';

/**
 * The keys of the list: j and k move, x ticks, Enter opens, "." goes to the actions, Escape ends the
 * selection. Returns the row that the keys are at.
 */
export function useKeys(
  ids: readonly string[],
  onOpen: (id: string) => void,
  actions: RefObject<HTMLElement | null>,
): string | undefined {
  const [active, setActive] = useState<string>();
  // What a key means is decided by the rows on the screen: the list changes with every message of a
  // robot, and an effect that attached the listener again would come later than the rows.
  const now = useRef({ ids, onOpen, active });
  useLayoutEffect(() => {
    now.current = { ids, onOpen, active };
  }, [ids, onOpen, active]);
  useEffect(() => {
    const move = (to: string | undefined) => {
      now.current.active = to;
      setActive(to);
    };
    const onKey = (e: KeyboardEvent) => {
      if (typing(e) || e.ctrlKey || e.metaKey || e.altKey || document.querySelector('[role="dialog"]')) return;
      const { ids, onOpen, active } = now.current;
      const at = active === undefined ? -1 : ids.indexOf(active);
      switch (e.key) {
        case 'j':
          move(ids[Math.min(at + 1, ids.length - 1)]);
          break;
        case 'k':
          move(ids[Math.max(at - 1, 0)]);
          break;
        case 'x':
          if (active !== undefined) useSelection.getState().toggle(active);
          break;
        case '.':
          if (actions.current) actions.current.querySelector<HTMLElement>('button, a')?.focus();
          else if (active !== undefined) onOpen(active);
          break;
        case 'Enter':
          // What has the focus and is pressed with Enter itself keeps it.
          if (active === undefined || (e.target instanceof HTMLElement && e.target.closest('button, a'))) return;
          onOpen(active);
          break;
        case 'Escape':
          useSelection.getState().clear();
          break;
        default:
          return;
      }
      e.preventDefault();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [actions]);
  return active;
}
