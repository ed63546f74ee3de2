import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';

import { line, whyAndExpect } from '../../api/commandline';
import { CommandLine } from '../../shell/CommandLine';
import { Refused } from '../../shell/Refused';
import { deletePolicy } from './api';
import { usePoliciesTexts } from './text';

/** Asks before a policy is deleted. */
export function DeleteDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const t = usePoliciesTexts();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [why, setWhy] = useState('');
  const remove = useMutation({
    mutationFn: () => deletePolicy(id, { why: why.trim() || undefined }),
    onSuccess: async () => {
      notifications.show({ message: t.deleted });
      await queries.invalidateQueries({ queryKey: ['policies'] });
      void navigate('/policies');
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
            label={t.reason}
            value={why}
            maxLength={256}
            data-autofocus
            onChange={(e) => setWhy(e.currentTarget.value)}
          />
          {remove.isError && <Refused error={remove.error} />}
          <Group justify="flex-end">
            <CommandLine lines={[line('policy', 'delete', id, ...whyAndExpect(why))]} />
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
