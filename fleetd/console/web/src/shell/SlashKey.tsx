import { Kbd } from '@mantine/core';

/** The key that goes to the filter of a page; only where there is a keyboard, and not for screen readers. */
export const SlashKey = () => (
  <span className="keyboard-only" aria-hidden>
    <Kbd size="xs">/</Kbd>
  </span>
);
