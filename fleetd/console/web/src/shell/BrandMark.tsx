import { Group, Text } from '@mantine/core';

/** The mark of Troupe and its name, as on the tab of the browser (public/icon.svg). On a phone the name is left out. */
export function BrandMark({ name = true }: { name?: boolean }) {
  return (
    <Group gap={6} wrap="nowrap" visibleFrom={name ? 'sm' : undefined} aria-label="Troupe" role="img">
      <svg viewBox="0 0 32 32" width={26} height={26} className="brand" aria-hidden>
        <rect x="3" y="8" width="26" height="19" rx="6" />
        <circle cx="11" cy="17" r="3" />
        <circle cx="21" cy="17" r="3" />
        <path d="M16 8V3" />
      </svg>
      <Text fw={500} aria-hidden>
        Troupe
      </Text>
    </Group>
  );
}
