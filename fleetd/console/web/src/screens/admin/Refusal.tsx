import { Alert, Text } from '@mantine/core';
import { IconAlertTriangle, IconLock } from '@tabler/icons-react';

import { problemOf } from '../../api/problem';

/** What fleetd refused, and the way out. */
export function Refusal({ error }: { error: unknown }) {
  if (!error) return null;
  const p = problemOf(error);
  return (
    <Alert
      color="red"
      role="alert"
      title={p.message}
      icon={p.forbidden ? <IconLock aria-hidden /> : <IconAlertTriangle aria-hidden />}
    >
      <Text size="sm">{p.hint}</Text>
    </Alert>
  );
}
