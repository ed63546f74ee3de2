import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';

import { CommandLine } from '../../shell/CommandLine';
import { Refused } from '../../shell/Refused';
import { useNotificationsTexts } from './text';

interface FormDialogProps {
  title: string;
  id: string;
  /** Left out: the name stays. */
  onID?: (id: string) => void;
  put: (id: string) => Promise<unknown>;
  lines: (id: string) => string[];
  onClose: () => void;
  children: ReactNode;
}

/** The dialog of a receiver or a route: its name and its fields, and what saves them. */
export function FormDialog({ title, id, onID, put, lines, onClose, children }: FormDialogProps) {
  const t = useNotificationsTexts();
  const queries = useQueryClient();
  const save = useMutation({
    mutationFn: () => put(id.trim()),
    onSuccess: async () => {
      notifications.show({ message: t.saved });
      await queries.invalidateQueries({ queryKey: ['notifications'] });
      onClose();
    },
  });
  return (
    <Modal opened onClose={onClose} size="lg" title={title} closeButtonProps={{ 'aria-label': t.close }}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          save.mutate();
        }}
      >
        <Stack>
          {onID && (
            <TextInput
              label={t.name}
              description={t.nameHelp}
              required
              maxLength={63}
              data-autofocus
              value={id}
              onChange={(e) => onID(e.currentTarget.value)}
            />
          )}
          {children}
          {save.isError && <Refused error={save.error} />}
          <Group justify="flex-end">
            {id && <CommandLine lines={lines(id)} />}
            <Button variant="default" onClick={onClose}>
              {t.cancel}
            </Button>
            <Button type="submit" loading={save.isPending}>
              {t.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
