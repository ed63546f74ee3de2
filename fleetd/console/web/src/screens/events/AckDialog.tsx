import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { api, data } from '../../api/client';
import { lineOf } from '../../api/lines';
import { useAlertName } from '../../live/AlertText';
import { CommandLine } from '../../shell/CommandLine';
import { Refused } from '../../shell/Refused';
import type { RobotAlert } from '../../live/alerts';
import { useEventsTexts } from './text';

/** Asks for the note with which an alert is acknowledged. */
export function AckDialog({ alert, onClose }: { alert: RobotAlert; onClose: () => void }) {
  const t = useEventsTexts();
  const name = useAlertName();
  const [note, setNote] = useState('');
  const [asked, setAsked] = useState(false);
  const cache = useQueryClient();
  const path = { id: alert.robot, alert: alert.id };
  const ofFleet = { alert: alert.id };
  const ack = useMutation({
    mutationFn: () =>
      alert.robot
        ? data(api.POST('/api/v1/robots/{id}/alerts/{alert}/ack', { params: { path }, body: { note } }))
        : data(api.POST('/api/v1/alerts/{alert}/ack', { params: { path: ofFleet }, body: { note } })),
    onSuccess: () => {
      notifications.show({ message: t.ackDone });
      void cache.invalidateQueries({ queryKey: ['alerts'] });
      onClose();
    },
  });
  return (
    <Modal opened onClose={onClose} size="lg" title={t.ackTitle} closeButtonProps={{ 'aria-label': t.close }}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          setAsked(true);
          if (note.trim()) ack.mutate();
        }}
      >
        <Stack>
          <Text dir="auto">
            {alert.robot && `${alert.robot}: `}
            {name(alert)}, {alert.detail}
          </Text>
          <Text size="sm" c="dimmed">
            {t.ackHelp}
          </Text>
          <TextInput
            label={t.note}
            value={note}
            maxLength={256}
            required
            error={asked && !note.trim() && t.noteNeeded}
            onChange={(e) => setNote(e.currentTarget.value)}
            data-autofocus
          />
          {ack.isError && <Refused error={ack.error} />}
          <Group justify="flex-end">
            <CommandLine
              lines={[
                alert.robot
                  ? lineOf('ack-alert', { path, body: { note } })
                  : lineOf('ack-fleet-alert', { path: ofFleet, body: { note } }),
              ]}
            />
            <Button variant="default" onClick={onClose}>
              {t.cancel}
            </Button>
            <Button type="submit" loading={ack.isPending}>
              {t.acknowledge.replace('…', '')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
