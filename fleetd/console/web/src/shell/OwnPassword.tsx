import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { type FormEvent, useState } from 'react';

import { api } from '../api/client';
import { Refused } from './Refused';
import { Password } from './Password';
import { useShellTexts } from './text';

const shortest = 10;

/** Changes the password of the person who is signed in. */
export function OwnPassword({ user, onClose }: { user: string; onClose: () => void }) {
  const t = useShellTexts();
  const [old, setOld] = useState('');
  const [next, setNext] = useState('');
  const [again, setAgain] = useState('');
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const differs = again !== '' && again !== next;
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await api.POST('/api/v1/me/password', { body: { old, new: next } });
      notifications.show({ message: t.passwordChanged });
      onClose();
    } catch (thrown) {
      setError(thrown);
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={onClose} title={t.ownPassword} closeButtonProps={{ 'aria-label': t.close }}>
      <form onSubmit={(e) => void submit(e)}>
        <Stack>
          {/* For password managers, which keep passwords by user. */}
          <input type="text" name="username" value={user} autoComplete="username" readOnly hidden />
          <Text size="sm">{t.ownPasswordHelp}</Text>
          {error !== undefined && <Refused error={error} />}
          <Password
            label={t.oldPassword}
            value={old}
            onChange={(e) => setOld(e.currentTarget.value)}
            autoComplete="current-password"
            required
            data-autofocus
          />
          <Password
            label={t.newPassword}
            description={t.newPasswordHelp(shortest)}
            value={next}
            onChange={(e) => setNext(e.currentTarget.value)}
            autoComplete="new-password"
            required
          />
          <Password
            label={t.newPasswordAgain}
            value={again}
            onChange={(e) => setAgain(e.currentTarget.value)}
            autoComplete="new-password"
            required
            error={differs && t.passwordsDiffer}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t.cancel}
            </Button>
            <Button type="submit" loading={busy} disabled={!old || next.length < shortest || next !== again}>
              {t.changePassword}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
