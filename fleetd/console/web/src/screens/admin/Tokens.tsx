import {
  Alert,
  Box,
  Button,
  Code,
  Group,
  MultiSelect,
  NumberInput,
  Select,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';

import { api, data, type Schemas } from '../../api/client';
import { lineOf } from '../../api/lines';
import { useMe } from '../../api/me';
import { CommandLine } from '../../shell/CommandLine';
import { ListState } from '../../shell/ListState';
import { dateTime } from '../../text/time';
import { Refused } from '../../shell/Refused';
import { CopyLine } from './CopyLine';
import { Rows } from './Rows';
import { useAdminTexts } from './text';
import { useChange } from './useChange';
import type { Role } from './UserDialog';
import { useUsers } from './Users';

type Owner = Pick<Schemas['Account'], 'name' | 'roles'>;

interface Props {
  /** Who may get a token. */
  users: Owner[];
  /** The tokens of this user only; those of everybody without it. */
  own?: string;
  label: string;
}

/** Tokens of everybody's programs. */
export function Tokens() {
  const t = useAdminTexts();
  const users = useUsers().data?.users ?? [];
  return (
    <Stack>
      <Text size="sm" c="dimmed" maw={760}>
        {t.tokensAbout}
      </Text>
      <TokensOf users={users} label={t.tabs.tokens} />
    </Stack>
  );
}

/** A form that makes a token, and those that are valid. */
export function TokensOf({ users, own, label }: Props) {
  const t = useAdminTexts();
  const list = useQuery({
    queryKey: ['tokens', own],
    queryFn: () => data(api.GET('/api/v1/tokens', { params: { query: { user: own } } })),
  });
  const { change, error } = useChange('tokens');
  const tokens = list.data?.tokens ?? [];
  const end = (id: string) =>
    change(t.ended(id), () => api.DELETE('/api/v1/tokens/{id}', { params: { path: { id } } }));
  return (
    <Stack>
      <NewToken users={users} own={own} />
      {error !== undefined && <Refused error={error} />}
      <ListState of={list} rows={tokens.length} empty={t.noTokens} />
      <Rows
        label={label}
        rows={tokens}
        keyOf={(k) => k.id}
        columns={[
          { head: t.token, cell: (k) => <Code>{k.id}</Code> },
          ...(own ? [] : [{ head: t.user, cell: (k: Schemas['AccessToken']) => k.user }]),
          { head: t.tokenFor, cell: (k) => <span className="any-text">{k.name}</span> },
          { head: t.limits, cell: (k) => k.roles.join(', ') || (own ? t.yourRoles : t.usersRoles) },
          { head: t.until, cell: (k) => dateTime(k.expires_at) },
          {
            head: t.end,
            headHidden: true,
            cell: (k) => (
              <Group gap={4} justify="flex-end" wrap="nowrap">
                <Box visibleFrom="md">
                  <CommandLine compact lines={[lineOf('revoke-access-token', { path: { id: k.id } })]} />
                </Box>
                <Button size="xs" variant="default" aria-label={t.revoke(k.name)} onClick={() => void end(k.id)}>
                  {t.end}
                </Button>
              </Group>
            ),
          },
        ]}
      />
    </Stack>
  );
}

function NewToken({ users, own }: Pick<Props, 'users' | 'own'>) {
  const t = useAdminTexts();
  const me = useMe();
  const { change, error, busy } = useChange('tokens');
  const [chosen, setUser] = useState<string | null>(null);
  const [name, setName] = useState('');
  const [days, setDays] = useState<number | string>(90);
  const [only, setOnly] = useState<Role[]>([]);
  const [made, setMade] = useState<Schemas['AccessToken']>();
  const user = chosen ?? users.find((u) => u.name === me?.id)?.name ?? null;
  const body = { name: name.trim(), days: Number(days), user: user ?? '', roles: only.length > 0 ? only : undefined };
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    setMade(undefined);
    const send = async () => setMade(await data(api.POST('/api/v1/tokens', { body })));
    if (await change(t.made(body.name), send)) setName('');
  };
  return (
    <form onSubmit={(e) => void submit(e)}>
      <Stack>
        <Group align="flex-end">
          <TextInput
            label={t.tokenFor}
            value={name}
            onChange={(e) => setName(e.currentTarget.value)}
            maxLength={63}
            required
            dir="auto"
          />
          {!own && (
            <Select
              label={t.user}
              value={user}
              onChange={(v) => {
                setUser(v);
                setOnly([]);
              }}
              data={users.map((u) => u.name)}
              searchable
              required
            />
          )}
          <MultiSelect
            label={t.limits}
            placeholder={only.length === 0 ? (own ? t.yourRoles : t.usersRoles) : undefined}
            value={only}
            onChange={(v) => setOnly(v as Role[])}
            data={users.find((u) => u.name === user)?.roles ?? []}
            w={{ base: '100%', xs: 260 }}
          />
          <NumberInput label={t.days} value={days} onChange={setDays} min={1} max={3650} w={130} />
          <Button type="submit" loading={busy} disabled={!name.trim() || !user || !Number(days)}>
            {t.makeToken}
          </Button>
          {body.name && user && <CommandLine lines={[lineOf('make-access-token', { body })]} />}
        </Group>
        {error !== undefined && <Refused error={error} />}
        {made?.secret && (
          <Alert title={t.secret} role="status">
            <CopyLine text={made.secret} />
          </Alert>
        )}
      </Stack>
    </form>
  );
}
