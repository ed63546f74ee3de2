import { Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** The title of a screen, what it is for, and what can be done with all of it. */
export function ScreenHead({ title, about, children }: { title: string; about?: string; children?: ReactNode }) {
  return (
    <Group justify="space-between" align="flex-start">
      <Stack gap={2} maw={640} flex={about ? '1 1 17rem' : '1 1 12rem'}>
        <Title order={1} size="h2">
          {title}
        </Title>
        {about && (
          <Text size="sm" c="dimmed">
            {about}
          </Text>
        )}
      </Stack>
      {children}
    </Group>
  );
}
