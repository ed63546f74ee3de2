import { Card, Group, Stack, Title } from '@mantine/core';
import type { ReactNode, Ref } from 'react';

import { PartLines } from '../robot/PartLines';

interface Props {
  title: string;
  /** Beside the title. */
  aside?: ReactNode;
  place?: Ref<HTMLDivElement>;
  children: ReactNode;
}

/** One part of the screen. */
export function Part({ title, aside, place, children }: Props) {
  return (
    <Card withBorder padding="md" component="section" aria-label={title} ref={place} data-part="manual">
      <Stack gap="sm">
        <Group justify="space-between" gap="xs">
          <Title order={2} size="h4">
            {title}
          </Title>
          <Group gap="xs">
            {aside}
            <PartLines />
          </Group>
        </Group>
        {children}
      </Stack>
    </Card>
  );
}
