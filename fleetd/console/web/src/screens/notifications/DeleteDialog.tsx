import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';

import { lineOf } from '../../api/lines';
import { CommandLine } from '../../shell/CommandLine';
import { Refused } from '../../shell/Refused';
import { deleteReceiver, deleteRoute } from './api';
import { useNotificationsTexts } from './text';

/** Asks before a receiver or a route is deleted. */
export function DeleteDialog({ of, id, onClose }: { of: 'receiver' | 'route'; id: string; onClose: () => void }) {
  const t = useNotificationsTexts();
  const queries = useQueryClient();
  const remove = useMutation<unknown>({
    mutationFn: () => (of === 'receiver' ? deleteReceiver(id) : deleteRoute(id)),
    onSuccess: async () => {
      notifications.show({ message: t.deleted });
      await queries.invalidateQueries({ queryKey: ['notifications'] });
      onClose();
    },
  });
  return (
    <Modal opened onClose={onClose} title={t.deleteTitle(id)} closeButtonProps={{ 'aria-label': t.close }}>
      <Stack>
        <Text>{of === 'receiver' ? t.deleteReceiverHelp : t.deleteRouteHelp}</Text>
        {remove.isError && <Refused error={remove.error} />}
        <Group justify="flex-end">
          <CommandLine
            lines={[
              of === 'receiver'
                ? lineOf('delete-receiver', { path: { id } })
                : lineOf('delete-route', { path: { id } }),
            ]}
          />
          <Button variant="default" onClick={onClose} data-autofocus>
            {t.cancel}
          </Button>
          <Button color="red" loading={remove.isPending} onClick={() => remove.mutate()}>
            {t.deleteNow}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
