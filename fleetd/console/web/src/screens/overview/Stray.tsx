import { Button, Group, List, Modal, Stack, Text, TextInput, Tooltip } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { api, type Schemas } from '../../api/client';
import { lineOf } from '../../api/lines';
import { useMay } from '../../api/me';
import { problemOf } from '../../api/problem';
import { CommandLine } from '../../shell/CommandLine';
import { Refused } from '../../shell/Refused';
import { useOverviewTexts } from './text';

type StrayDocuments = Schemas['StrayDocuments'];

/** Key of the query for the documents of robots outside the fleet. */
export const straysKey = ['orphans'];

/** A robot outside the fleet of which the broker has documents: one that is connected is added, what others left is removed. */
export function Stray({ of, actions }: { of: StrayDocuments; actions: boolean }) {
  const t = useOverviewTexts();
  const may = useMay('administer');
  const queries = useQueryClient();
  const [removing, setRemoving] = useState(false);
  const id = of.robot;
  const add = useMutation({
    mutationFn: () =>
      api.POST('/api/v1/robots/{id}/adopt', { params: { path: { id }, header: { Prefer: 'wait=5' } }, body: {} }),
    onSuccess: () => {
      notifications.show({ color: 'blue', message: t.added(id) });
      void queries.invalidateQueries({ queryKey: straysKey });
    },
    onError: (thrown) => notifications.show({ color: 'red', message: problemOf(thrown).message }),
  });
  const connected = isConnected(of);
  const whyNotRemove = !may ? t.removeForbidden : connected ? t.removeConnected : '';
  return (
    <Group gap="sm">
      <Text size="sm" title={of.topics.join('\n')}>
        {connected ? t.strayConnected(id) : t.orphan(id, of.topics.length)}
      </Text>
      {actions && connected && (
        <Tooltip label={may ? t.addHelp : t.addForbidden} multiline maw="90vw">
          <Button
            size="compact-sm"
            data-disabled={!may || undefined}
            aria-disabled={!may}
            loading={add.isPending}
            onClick={() => may && add.mutate()}
          >
            {t.add}
          </Button>
        </Tooltip>
      )}
      {actions && (
        <Tooltip label={whyNotRemove || t.orphanHelp} multiline maw="90vw">
          <Button
            size="compact-sm"
            variant="default"
            data-disabled={!!whyNotRemove || undefined}
            aria-disabled={!!whyNotRemove}
            onClick={() => !whyNotRemove && setRemoving(true)}
          >
            {t.remove}…
          </Button>
        </Tooltip>
      )}
      {removing && <RemoveDialog of={of} onClose={() => setRemoving(false)} />}
    </Group>
  );
}

/** Asks before the documents of a robot are deleted at the broker. */
function RemoveDialog({ of, onClose }: { of: StrayDocuments; onClose: () => void }) {
  const t = useOverviewTexts();
  const queries = useQueryClient();
  const [why, setWhy] = useState('');
  const path = { id: of.robot };
  const query = { why: why.trim() || undefined };
  const remove = useMutation({
    mutationFn: () => api.DELETE('/api/v1/orphans/{id}', { params: { path, query } }),
    onSuccess: () => {
      notifications.show({ color: 'blue', message: t.removed(of.robot) });
      void queries.invalidateQueries({ queryKey: straysKey });
      onClose();
    },
  });
  return (
    <Modal opened onClose={onClose} title={t.removeTitle(of.robot)} closeButtonProps={{ 'aria-label': t.close }}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          remove.mutate();
        }}
      >
        <Stack>
          <Text size="sm">{t.removeAsk}</Text>
          <List size="sm" className="any-text">
            {of.topics.map((topic) => (
              <List.Item key={topic}>{topic}</List.Item>
            ))}
          </List>
          <TextInput
            label={t.why}
            value={why}
            maxLength={256}
            onChange={(e) => setWhy(e.currentTarget.value)}
            data-autofocus
          />
          {remove.isError && <Refused error={remove.error} />}
          <Group justify="flex-end">
            <CommandLine lines={[lineOf('delete-orphan', { path, query })]} />
            <Button variant="default" onClick={onClose}>
              {t.keep}
            </Button>
            <Button type="submit" color="red.9" loading={remove.isPending}>
              {t.remove}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function isConnected(of: StrayDocuments): boolean {
  return of.presence_status === 'online' || of.presence_status === 'degraded';
}
