import { Alert } from '@mantine/core';
import { IconRefreshAlert } from '@tabler/icons-react';

import { useShellTexts } from './text';

/**
 * Says that a request was refused because it would reach another number of robots than a person
 * agreed to. The page shows the new check beside it.
 */
export function NumberChanged({ before, now }: { before: number; now?: number }) {
  const t = useShellTexts();
  return (
    <Alert color="yellow" role="alert" icon={<IconRefreshAlert aria-hidden />} title={t.numberChanged}>
      {now === undefined || now === before ? t.numberAgain : t.numberNow(before, now)}
    </Alert>
  );
}
