import { Alert, Button, List, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconLock } from '@tabler/icons-react';

import { problemOf } from '../api/problem';
import { useShellTexts } from './text';

/** What went wrong with a request, what to do, and each finding. */
export function Refused({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const t = useShellTexts();
  const p = problemOf(error);
  return (
    <Alert
      color="red"
      role="alert"
      icon={p.forbidden ? <IconLock aria-hidden /> : <IconAlertTriangle aria-hidden />}
      title={onRetry ? t.notRead : p.message}
    >
      <Stack gap="xs" align="flex-start">
        {onRetry && <Text size="sm">{p.message}</Text>}
        {p.hint && <Text size="sm">{p.hint}</Text>}
        {p.findings.length > 1 && (
          <List size="sm">
            {p.findings.slice(0, 20).map((f, n) => (
              <List.Item key={n}>
                {f.pointer && `${f.pointer}: `}
                {f.detail}
                {f.hint && `; ${f.hint}`}
              </List.Item>
            ))}
          </List>
        )}
        {onRetry && !p.forbidden && (
          <Button size="compact-sm" variant="default" onClick={onRetry}>
            {t.retry}
          </Button>
        )}
      </Stack>
    </Alert>
  );
}
