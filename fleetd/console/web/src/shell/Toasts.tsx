import { Notifications } from '@mantine/notifications';
import { useEffect, useRef } from 'react';

import { mostToasts } from './toast';

/**
 * Messages, on a strip at the lower edge. Pages, the navigation and dialogs end above it, so that a
 * message covers nothing that can be pressed.
 */
export function Toasts() {
  const strip = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { style } = document.documentElement;
    const observer = new ResizeObserver(() => style.setProperty('--toasts', `${strip.current?.offsetHeight ?? 0}px`));
    observer.observe(strip.current!);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={strip} className="toasts" data-testid="toasts">
      <Notifications position="bottom-center" withinPortal={false} limit={mostToasts} autoClose={6000} />
    </div>
  );
}
