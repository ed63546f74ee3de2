import { Button, Tooltip } from '@mantine/core';
import { IconHandStop } from '@tabler/icons-react';

import { useMayStop } from '../../api/me';
import { noteStop } from '../../shell/sendStop';
import { stop } from '../../shell/stopping';
import { toast } from '../../shell/toast';
import { usePage } from '../robot/page';
import { useManualTexts } from './text';

/** The software stop beside the stick, as big as a hand: pressing it needs no aim. */
export function BigStop() {
  const t = useManualTexts();
  const { id } = usePage();
  const may = useMayStop();
  const send = () =>
    stop({ robot: id }).then(
      (batch) => noteStop(batch, [id]),
      () => toast({ color: 'red', title: t.stopFailed, message: id, autoClose: false }, [id]),
    );
  return (
    <Tooltip label={t.stopHelp}>
      <Button
        color="red.9"
        className="big-stop"
        size="xl"
        fullWidth
        aria-disabled={!may}
        data-disabled={!may || undefined}
        leftSection={<IconHandStop size={40} aria-hidden />}
        onPointerDown={() => may && void send()}
        onKeyDown={(e) => may && !e.repeat && (e.key === ' ' || e.key === 'Enter') && void send()}
        data-testid="big-stop"
      >
        {t.stop}
      </Button>
    </Tooltip>
  );
}
