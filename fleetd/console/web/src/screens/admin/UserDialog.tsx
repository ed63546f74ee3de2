import { Button, Checkbox, Group, Modal, SimpleGrid, Stack, Switch, TagsInput, TextInput, Title } from '@mantine/core';
import { type FormEvent, useRef, useState } from 'react';

import { api, type Schemas } from '../../api/client';
import { lineOf } from '../../api/lines';
import { useSites } from '../../live/robots';
import { CommandLine } from '../../shell/CommandLine';
import { Password } from '../../shell/Password';
import { Refused } from '../../shell/Refused';
import { SessionsOf } from './Sessions';
import { useAdminTexts } from './text';
import { useChange } from './useChange';

export type Account = Schemas['Account'];
export type Role = Account['roles'][number];
export const roles: Role[] = ['viewer', 'operator', 'author', 'releaser', 'admin', 'auditor'];

/** Adds a user, or changes one. */
export function UserDialog({ user, onClose }: { user?: Account; onClose: () => void }) {
  const t = useAdminTexts();
  const known = useSites();
  const { change, error, busy } = useChange('users');
  const [name, setName] = useState(user?.name ?? '');
  const [display, setDisplay] = useState(user?.display ?? '');
  const [has, setHas] = useState<Role[]>(user?.roles ?? ['viewer']);
  const [sites, setSites] = useState(user?.sites ?? []);
  const list = useRef<HTMLDivElement>(null);
  const [password, setPassword] = useState('');
  const [disabled, setDisabled] = useState(user?.disabled ?? false);
  const added = { name: name.trim(), display, roles: has, sites, password: password || undefined };
  const changed = { display, roles: has, sites, disabled };
  const path = { name: user?.name ?? '' };
  const send = async () => {
    if (!user) return api.POST('/api/v1/users', { body: added });
    if (password) await api.POST('/api/v1/users/{name}/password', { params: { path }, body: { password } });
    return api.PATCH('/api/v1/users/{name}', { params: { path }, body: changed });
  };
  const lines = () =>
    user
      ? [
          ...(password ? [lineOf('set-password', { path, body: { password } })] : []),
          lineOf('change-user', { path, body: disabled ? { display, roles: has, sites } : changed }),
          ...(disabled && !user.disabled ? [lineOf('change-user', { path, body: { disabled } })] : []),
        ]
      : [lineOf('add-user', { body: added })];
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    if (await change(t.saved(name.trim()), send)) onClose();
  };
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={<span dir="auto">{user ? t.change(user.name) : t.addUser}</span>}
      closeButtonProps={{ 'aria-label': t.close }}
    >
      <form onSubmit={(e) => void submit(e)}>
        <Stack>
          {!user && (
            <TextInput
              label={t.user}
              description={t.userHelp}
              value={name}
              error={name !== '' && !/^[a-z0-9._@+-]+$/.test(name.trim())}
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
            autoComplete="off"
            dir="auto"
          />
          <Checkbox.Group label={t.roles} value={has} onChange={(v) => setHas(v as Role[])} required>
            <SimpleGrid cols={{ base: 1, sm: 2 }} verticalSpacing={6} mt={4}>
              {roles.map((r) => (
                <Checkbox key={r} value={r} label={r} description={t.purposes[r]} />
              ))}
            </SimpleGrid>
          </Checkbox.Group>
          <Password
            label={user ? t.newPassword : t.password}
            description={user ? t.newPasswordHelp : t.passwordHelp}
            value={password}
            error={password !== '' && password.length < 10}
            onChange={(e) => setPassword(e.currentTarget.value)}
            autoComplete="new-password"
          />
          <div ref={list}>
            <TagsInput
              label={t.sites}
              description={t.sitesHelp}
              value={sites}
              onChange={setSites}
              data={known}
              acceptValueOnBlur
              maxDropdownHeight={150}
              comboboxProps={{ withinPortal: false }}
              classNames={{ dropdown: 'list-below' }}
              onDropdownOpen={() => requestAnimationFrame(() => list.current?.scrollIntoView({ block: 'nearest' }))}
              dir="auto"
            />
          </div>
          {user && (
            <Switch label={t.disable} checked={disabled} onChange={(e) => setDisabled(e.currentTarget.checked)} />
          )}
          {/* Beside the button: the dialog is longer than a screen. */}
          {error !== undefined && <Refused error={error} />}
          <Group justify="flex-end">
            {name.trim() && <CommandLine lines={lines()} />}
            <Button variant="default" onClick={onClose}>
              {t.cancel}
            </Button>
            <Button type="submit" loading={busy} disabled={!name.trim() || has.length === 0}>
              {user ? t.save : t.add}
            </Button>
          </Group>
        </Stack>
      </form>
      {user && (
        <Stack gap="xs" mt="lg" component="section" aria-labelledby="sessions-of-user">
          <Title order={3} size="h5" id="sessions-of-user">
            {t.sessions}
          </Title>
          <SessionsOf user={user.name} label={t.sessions} />
        </Stack>
      )}
    </Modal>
  );
}
