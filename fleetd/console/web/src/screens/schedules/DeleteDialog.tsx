import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';

import { lineOf } from '../../api/lines';
import { CommandLine } from '../../shell/CommandLine';
import { Refused } from '../../shell/Refused';
import { deleteSchedule } from './api';
import { useSchedulesTexts } from './text';

/** Asks before a schedule is deleted. */
export function DeleteDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const t = useSchedulesTexts();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [why, setWhy] = useState('');
  const remove = useMutation({
    mutationFn: () => deleteSchedule(id, { why: why.trim() || undefined }),
    onSuccess: async () => {
      notifications.show({ message: t.deleted });
      await queries.invalidateQueries({ queryKey: ['schedules'] });
      void navigate('/schedules');
    },
  });
  return (
    <Modal opened onClose={onClose} title={t.deleteTitle(id)} closeButtonProps={{ 'aria-label': t.close }}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          remove.mutate();
        }}
      >
        <Stack>
          <Text>{t.deleteHelp}</Text>
          <TextInput
            label={t.siteReason}
            value={why}
            maxLength={256}
            data-autofocus
            onChange={(e) => setWhy(e.currentTarget.value)}
          />
          {remove.isError && <Refused error={remove.error} />}
          <Group justify="flex-end">
            <CommandLine lines={[lineOf('delete-schedule', { path: { id }, query: { why } })]} />
            <Button variant="default" onClick={onClose}>
              {t.cancel}
            </Button>
            <Button type="submit" color="red" loading={remove.isPending}>
              {t.deleteNow}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
