import { Button, Modal, Stack, Text } from '@mantine/core';
import { useEffect } from 'react';
import { useBlocker } from 'react-router';

import { useMay } from '../../api/me';
import { useSend } from '../robot/ActionButton';
import { usePage } from '../robot/page';
import type { Drive } from './drive';
import { useManualTexts } from './text';

/** Leaving the page stops the robot, gives control back and asks what the robot shall do then. */
export function LeaveDialog({ drive }: { drive?: Drive }) {
  const t = useManualTexts();
  const { id } = usePage();
  const send = useSend();
  const mayCommand = useMay('command');
  const blocker = useBlocker(!!drive);
  const asks = blocker.state === 'blocked';
  useEffect(() => {
    if (asks) drive?.zero('leaving');
  }, [asks, drive]);
  const leave = async (toAuto: boolean) => {
    await drive?.end();
    if (toAuto) void send('mode/set', { mode: 'ato' }, t.leaveAto);
    blocker.proceed?.();
  };
  return (
    <Modal
      opened={asks}
      onClose={() => blocker.reset?.()}
      title={t.leaveTitle}
      closeButtonProps={{ 'aria-label': t.close }}
    >
      <Stack>
        <Text size="sm" dir="auto">
          {t.leaveText(id)}
        </Text>
        {mayCommand && (
          <Button h={48} color="indigo.8" onClick={() => void leave(true)}>
            {t.leaveAto}
          </Button>
        )}
        <Button h={48} variant="default" onClick={() => void leave(false)}>
          {t.leaveStay}
        </Button>
        <Button h={48} variant="subtle" onClick={() => blocker.reset?.()}>
          {t.leaveNot}
        </Button>
      </Stack>
    </Modal>
  );
}
