import { Card, Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** One part of the screen. */
export function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card withBorder padding="md" component="section" aria-label={title}>
      <Stack gap="sm">
        <Title order={2} size="h4">
          {title}
        </Title>
        {children}
      </Stack>
    </Card>
  );
}
