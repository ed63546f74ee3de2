import { Alert, Button, Group, List, Loader, Modal, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { problemOf } from '../../api/problem';
import { lineOf } from '../../api/lines';
import { CommandLine } from '../../shell/CommandLine';
import { type Deletion, impactOf, type Kind, remove, removal, useRefresh } from './api';
import { Refused } from '../../shell/Refused';
import { useLibraryTexts } from './text';

/** Shows who would be shortened by a deletion, and deletes if that is still so. */
export function DeleteDialog({
  kind,
  id,
  onClose,
  onDone,
}: {
  kind: Kind;
  id: string;
  onClose: () => void;
  onDone?: () => void;
}) {
  const t = useLibraryTexts();
  const refresh = useRefresh();
  const impact = useQuery({
    queryKey: ['impact', kind, id],
    queryFn: () => impactOf(kind, id),
    gcTime: 0,
    staleTime: 0,
  });
  const [why, setWhy] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const changed = error !== undefined && problemOf(error).status === 409;
  const send = async () => {
    setBusy(true);
    try {
      await remove(kind, id, impact.data!, why);
      notifications.show({ message: t.deleteDone(id) });
      await refresh();
      onClose();
      onDone?.();
    } catch (thrown) {
      setError(thrown);
      void impact.refetch();
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={onClose} title={t.deleteTitle(id)} closeButtonProps={{ 'aria-label': t.close }}>
      <Stack>
        {impact.isPending && <Loader aria-label={t.loading} />}
        {impact.isError && <Refused error={impact.error} onRetry={() => void impact.refetch()} />}
        {impact.data && <Impact kind={kind} impact={impact.data} />}
        <TextInput
          label={t.why}
          value={why}
          maxLength={256}
          data-autofocus
          onChange={(e) => setWhy(e.currentTarget.value)}
          dir="auto"
        />
        <Text size="sm" c="dimmed">
          {t.deleteUndo}
        </Text>
        {changed && (
          <Alert color="orange" role="alert" title={t.deleteChangedTitle}>
            {t.deleteChanged}
          </Alert>
        )}
        {error !== undefined && !changed && <Refused error={error} />}
        <Group justify="flex-end">
          {impact.data && (
            <CommandLine lines={[lineOf(`delete-${kind}`, { path: { id }, query: removal(impact.data, why) })]} />
          )}
          <Button variant="default" onClick={onClose}>
            {t.cancel}
          </Button>
          <Button color="red.9" loading={busy} disabled={!impact.data} onClick={() => void send()}>
            {t.deleteNow}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function Impact({ kind, impact }: { kind: Kind; impact: Deletion }) {
  const t = useLibraryTexts();
  const shortened = [
    ...(impact.stories ?? []).map((s) => ({ id: s.story, ...s })),
    ...(impact.activities ?? []).map((a) => ({ id: a.activity, ...a })),
  ].filter(() => kind === 'act');
  return (
    <Stack gap="xs">
      {shortened.length === 0 && impact.robots === 0 && <Text size="sm">{t.deleteNothing}</Text>}
      {shortened.length > 0 && (
        <>
          <Text size="sm">{t.deleteShortens}</Text>
          <List size="sm">
            {shortened.map((s) => (
              <List.Item key={s.id}>
                {s.acts_after === 0 ? t.emptied(s.id) : t.shortened(s.id, s.acts_before, s.acts_after)}
                {s.draft_only && ` (${t.draftOnly})`}
              </List.Item>
            ))}
          </List>
        </>
      )}
      {impact.robots > 0 && <Text size="sm">{t.deleteRobots(impact.robots)}</Text>}
      {(impact.clears ?? []).length > 0 && (
        <Alert color="orange" role="alert">
          {t.deleteClears(impact.clears!.join(', '))}
        </Alert>
      )}
    </Stack>
  );
}
