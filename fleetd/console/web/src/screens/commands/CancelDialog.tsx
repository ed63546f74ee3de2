import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { api, data } from '../../api/client';
import { lineOf } from '../../api/lines';
import { CommandLine } from '../../shell/CommandLine';
import { Refused } from '../../shell/Refused';
import type { Command } from './states';
import { useCommandsTexts } from './text';

/** Asks before a command is cancelled. */
export function CancelDialog({ command, onClose }: { command: Command; onClose: () => void }) {
  const t = useCommandsTexts();
  const [why, setWhy] = useState('');
  const cache = useQueryClient();
  const path = { id: command.id ?? '' };
  const cancel = useMutation({
    mutationFn: () => data(api.POST('/api/v1/commands/{id}/cancel', { params: { path }, body: { why } })),
    onSuccess: () => {
      notifications.show({ message: t.cancelled });
      void cache.invalidateQueries({ queryKey: ['commands'] });
      onClose();
    },
  });
  return (
    <Modal opened onClose={onClose} title={t.cancelTitle} closeButtonProps={{ 'aria-label': t.close }}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          cancel.mutate();
        }}
      >
        <Stack>
          <Text dir="auto">{t.cancelOne(command.verb, command.robot)}</Text>
          <Text size="sm" c="dimmed">
            {t.cancelHelp}
          </Text>
          <TextInput
            label={t.why}
            value={why}
            maxLength={256}
            onChange={(e) => setWhy(e.currentTarget.value)}
            data-autofocus
          />
          {cancel.isError && <Refused error={cancel.error} />}
          <Group justify="flex-end">
            <CommandLine lines={[lineOf('cancel-command', { path, body: { why } })]} />
            <Button variant="default" onClick={onClose}>
              {t.keep}
            </Button>
            <Button type="submit" loading={cancel.isPending}>
              {t.cancel}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
