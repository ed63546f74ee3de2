import { Button, Skeleton, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'react-router';

import { Refused } from './Refused';
import { useShellTexts } from './text';

interface Asked {
  isPending: boolean;
  isError: boolean;
  isSuccess: boolean;
  error: unknown;
  refetch: () => unknown;
}

interface Props {
  of: Asked;
  rows: number;
  empty: ReactNode;
  /** Where the first row is made, if it can be made by a person. */
  first?: string;
}

/** What stands in the place of a list that is still asked for, was refused, failed, or has no row. */
export function ListState({ of, rows, empty, first }: Props) {
  const t = useShellTexts();
  return (
    <>
      {of.isPending && (
        <Stack gap="xs" aria-label={t.loading} role="status">
          {[1, 2, 3, 4].map((n) => (
            <Skeleton key={n} h={32} />
          ))}
        </Stack>
      )}
      {of.isError && <Refused error={of.error} onRetry={() => void of.refetch()} />}
      {of.isSuccess && rows === 0 && (
        <Text component="div" py="xl" ta="center" role="status">
          {empty}
          {first && (
            <div style={{ marginTop: 12 }}>
              <Button component={Link} to={first} variant="light">
                {t.makeFirst}
              </Button>
            </div>
          )}
        </Text>
      )}
    </>
  );
}
