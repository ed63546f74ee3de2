import { Fieldset, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';

import { FieldLabel } from './FieldLabel';

/** A field with several inputs under its name and description. */
export function FieldGroup({
  name,
  title,
  description,
  children,
}: {
  name: string;
  title?: string;
  description?: string;
  children: ReactNode;
}) {
  return (
    <Fieldset legend={title ?? <FieldLabel name={name} />}>
      <Stack gap="xs">
        {description && (
          <Text size="xs" c="dimmed">
            {description}
          </Text>
        )}
        {children}
      </Stack>
    </Fieldset>
  );
}
