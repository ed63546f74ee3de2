import { type RefObject, useLayoutEffect, useRef } from 'react';

/** ms after which somebody has seen that a thing moved or has another meaning. */
const reaction = 400;
/** ms after the end of a press within which browsers send its click. */
const clickFollows = 700;

/** What a press acts on. */
const pressable = 'button, a[href], [role="row"]';

/**
 * A press counts for the thing on which it began. Browsers look only at the end of a touch what is below the finger,
 * and by then a list may have moved, or a step may have become the next one.
 */
export function keepPressOnTarget(): void {
  let began: { on: Element | null } | undefined;
  let end: number | undefined;
  const over = () => {
    began = undefined;
  };
  const on = (e: Event) => (e.target instanceof Element ? e.target.closest(pressable) : null);
  window.addEventListener(
    'pointerdown',
    (e) => {
      clearTimeout(end);
      began = { on: on(e) };
    },
    true,
  );
  window.addEventListener('pointercancel', over, true);
  window.addEventListener('pointerup', () => (end = window.setTimeout(over, clickFollows)), true);
  window.addEventListener(
    'click',
    (e) => {
      const to = on(e);
      // The keyboard, programs and screen readers click without a press.
      const strayed = began && e.detail > 0 && to && to !== began.on;
      over();
      if (!strayed) return;
      e.preventDefault();
      e.stopImmediatePropagation();
    },
    true,
  );
}

/**
 * Ignores presses on an element for a moment after `shown`, which stands for its place or its meaning, has changed: the
 * press was meant for what was there before. The keyboard goes on.
 */
export function useIgnorePressesAfterChange(of: RefObject<HTMLElement | null>, shown: unknown): void {
  const before = useRef(shown);
  useLayoutEffect(() => {
    if (before.current === shown) return;
    before.current = shown;
    if (of.current) ignorePresses(of.current);
  }, [of, shown]);
}

/** The same for an element that moves when something above it, such as a banner, appears or goes. */
export function useIgnorePressesAfterMove(of: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const e = of.current!;
    const place = () => e.getBoundingClientRect().top + window.scrollY;
    let before = place();
    const observer = new ResizeObserver(() => {
      const now = place();
      if (Math.abs(now - before) > 4) ignorePresses(e);
      before = now;
    });
    observer.observe(e.closest('main') ?? document.body);
    return () => observer.disconnect();
  }, [of]);
}

function ignorePresses(e: HTMLElement): void {
  e.animate([{ pointerEvents: 'none' }, { pointerEvents: 'none' }], reaction);
}
