import {
  Button,
  Group,
  Loader,
  Modal,
  MultiSelect,
  PasswordInput,
  Stack,
  Switch,
  Table,
  Text,
  TextInput,
} from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';

import { api, data, type Schemas } from '../../api/client';
import { Refusal } from './Refusal';
import { useAdminTexts } from './text';

type Account = Schemas['Account'];
type Role = Account['roles'][number];
export const roles: Role[] = ['viewer', 'operator', 'author', 'releaser', 'admin', 'auditor'];

/** The users, and dialogs that add and change one. */
export function Users() {
  const t = useAdminTexts();
  const users = useQuery({ queryKey: ['users'], queryFn: () => data(api.GET('/api/v1/users')) });
  const [open, setOpen] = useState<Account | 'new'>();
  if (users.error) return <Refusal error={users.error} />;
  if (!users.data) return <Loader aria-label={t.loading} />;
  return (
    <Stack align="flex-start">
      <Button onClick={() => setOpen('new')}>{t.addUser}</Button>
      <Table.ScrollContainer minWidth={500} w="100%">
        <Table verticalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t.user}</Table.Th>
              <Table.Th>{t.roles}</Table.Th>
              <Table.Th>{t.sites}</Table.Th>
              <Table.Th>{t.signsIn}</Table.Th>
              <Table.Th>
                <span className="unseen">{t.edit}</span>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {users.data.users.map((u) => (
              <Table.Tr key={u.name} className={u.disabled ? 'stale' : undefined}>
                <Table.Td>
                  <Text fw={600} dir="auto">
                    {u.name}
                  </Text>
                  <Text size="xs" c="dimmed" dir="auto">
                    {u.display}
                  </Text>
                </Table.Td>
                <Table.Td>{u.roles.join(', ')}</Table.Td>
                <Table.Td dir="auto">{u.sites.join(', ') || t.allSites}</Table.Td>
                <Table.Td>{u.disabled ? t.disabled : u.password ? t.withPassword : t.withTokens}</Table.Td>
                <Table.Td>
                  <Button size="xs" variant="default" aria-label={t.change(u.name)} onClick={() => setOpen(u)}>
                    {t.edit}
                  </Button>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {open && <UserDialog user={open === 'new' ? undefined : open} onClose={() => setOpen(undefined)} />}
    </Stack>
  );
}

function UserDialog({ user, onClose }: { user?: Account; onClose: () => void }) {
  const t = useAdminTexts();
  const client = useQueryClient();
  const [name, setName] = useState(user?.name ?? '');
  const [display, setDisplay] = useState(user?.display ?? '');
  const [has, setHas] = useState<Role[]>(user?.roles ?? ['viewer']);
  const [sites, setSites] = useState(user?.sites.join(', ') ?? '');
  const [password, setPassword] = useState('');
  const [disabled, setDisabled] = useState(user?.disabled ?? false);
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    const at = sites
      .split(',')
      .map((s) => s.trim())
      .filter(Boolean);
    try {
      if (!user) {
        await api.POST('/api/v1/users', {
          body: { name: name.trim(), display, roles: has, sites: at, password: password || undefined },
        });
      } else {
        const params = { path: { name: user.name } };
        await api.PATCH('/api/v1/users/{name}', { params, body: { display, roles: has, sites: at, disabled } });
        if (password) await api.POST('/api/v1/users/{name}/password', { params, body: { password } });
      }
      await client.invalidateQueries({ queryKey: ['users'] });
      notifications.show({ message: t.saved(name) });
      onClose();
    } catch (thrown) {
      setError(thrown);
      setBusy(false);
    }
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={user ? t.change(user.name) : t.addUser}
      closeButtonProps={{ 'aria-label': t.close }}
    >
      <form onSubmit={(e) => void submit(e)}>
        <Stack>
          <Refusal error={error} />
          {!user && (
            <TextInput
              label={t.user}
              value={name}
              onChange={(e) => setName(e.currentTarget.value)}
              required
              maxLength={63}
              autoCapitalize="none"
              autoComplete="off"
              data-autofocus
            />
          )}
          <TextInput
            label={t.name}
            value={display}
            onChange={(e) => setDisplay(e.currentTarget.value)}
            maxLength={63}
            dir="auto"
          />
          <MultiSelect
            label={t.roles}
            value={has}
            onChange={(v) => setHas(v as Role[])}
            data={roles}
            required
            clearButtonProps={{ 'aria-label': t.cancel }}
          />
          <TextInput
            label={t.sites}
            description={t.sitesHelp}
            value={sites}
            onChange={(e) => setSites(e.currentTarget.value)}
            dir="auto"
          />
          <PasswordInput
            label={user ? t.newPassword : t.password}
            description={user ? undefined : t.passwordHelp}
            value={password}
            onChange={(e) => setPassword(e.currentTarget.value)}
            autoComplete="new-password"
            maxLength={256}
          />
          {user && (
            <Switch label={t.disable} checked={disabled} onChange={(e) => setDisabled(e.currentTarget.checked)} />
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t.cancel}
            </Button>
            <Button type="submit" loading={busy} disabled={!name.trim() || has.length === 0}>
              {user ? t.save : t.add}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
