import { Button, Checkbox, Group, Modal, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';

import { lineOf } from '../../api/lines';
import { CommandLine } from '../../shell/CommandLine';
import { Refused } from '../../shell/Refused';
import { usePlanTexts } from '../rollouts/planText';
import { typed } from '../rollouts/states';
import { deletePolicy } from './api';
import { Effect } from './Effect';
import { usePoliciesTexts } from './text';

/** Asks before a policy is deleted. */
export function DeleteDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const t = usePoliciesTexts();
  const plans = usePlanTexts();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [why, setWhy] = useState('');
  const [agreed, agree] = useState(0);
  const [number, setNumber] = useState('');
  const [how, setHow] = useState<keyof typeof t.hows>('waves');
  const now = how === 'now' || undefined;
  const dry = useQuery({
    queryKey: ['policy-delete', id, now],
    queryFn: () => deletePolicy(id, { dry_run: true, now }),
    gcTime: 0,
    retry: false,
  });
  const changes = dry.data?.updated.length ?? 0;
  const taken = dry.data?.rollouts.reduce((n, r) => n + r.superseding, 0) ?? 0;
  const ready =
    !!dry.data && (taken === 0 || agreed === taken) && (changes <= typed || number.trim() === String(changes));
  const remove = useMutation({
    mutationFn: () =>
      deletePolicy(id, { expected_count: changes, supersede: taken || undefined, now, why: why.trim() || undefined }),
    onSuccess: async () => {
      notifications.show({ message: t.deleted });
      await queries.invalidateQueries({ queryKey: ['policies'] });
      void navigate('/policies');
    },
    onError: async () => {
      setNumber('');
      await dry.refetch();
    },
  });
  return (
    <Modal opened onClose={onClose} title={t.deleteTitle(id)} closeButtonProps={{ 'aria-label': t.close }}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          if (ready) remove.mutate();
        }}
      >
        <Stack>
          <Text>{t.deleteHelp}</Text>
          {dry.isError && <Refused error={dry.error} />}
          {dry.data && <Effect of={{ ...dry.data, deleted: true }} />}
          {changes > 0 && (
            <NativeSelect
              label={t.how}
              value={how}
              data={Object.entries(t.hows).map(([value, label]) => ({ value, label }))}
              onChange={(e) => setHow(e.currentTarget.value as typeof how)}
            />
          )}
          {taken > 0 && (
            <Checkbox
              label={plans.agree(taken)}
              checked={agreed === taken}
              onChange={(e) => agree(e.currentTarget.checked ? taken : 0)}
            />
          )}
          <TextInput
            label={t.reason}
            value={why}
            maxLength={256}
            data-autofocus
            onChange={(e) => setWhy(e.currentTarget.value)}
          />
          {changes > typed && (
            <TextInput
              label={t.typeNumber(changes)}
              value={number}
              inputMode="numeric"
              onChange={(e) => setNumber(e.currentTarget.value)}
            />
          )}
          {remove.isError && <Refused error={remove.error} />}
          <Group justify="flex-end">
            <CommandLine
              lines={[
                lineOf('delete-policy', {
                  path: { id },
                  query: { expected_count: changes, supersede: taken || undefined, now, why },
                }),
              ]}
            />
            <Button variant="default" onClick={onClose}>
              {t.cancel}
            </Button>
            <Button type="submit" color="red" loading={remove.isPending} disabled={!ready}>
              {t.deleteNow(changes)}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
