import { Alert, Button, Code, Group, Loader, NumberInput, Select, Stack, Table, Text, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';

import { api, data, type Schemas } from '../../api/client';
import { dateTime } from '../../text/time';
import { CopyLine } from './CopyLine';
import { Refusal } from './Refusal';
import { useAdminTexts } from './text';

/** Tokens of programs: the list, and a form that makes one. */
export function Tokens() {
  const t = useAdminTexts();
  const client = useQueryClient();
  const tokens = useQuery({ queryKey: ['tokens'], queryFn: () => data(api.GET('/api/v1/tokens')) });
  const users = useQuery({ queryKey: ['users'], queryFn: () => data(api.GET('/api/v1/users')) });
  const [user, setUser] = useState<string | null>(null);
  const [name, setName] = useState('');
  const [days, setDays] = useState<number | string>(90);
  const [made, setMade] = useState<Schemas['AccessToken']>();
  const [error, setError] = useState<unknown>();
  if (tokens.error) return <Refusal error={tokens.error} />;
  if (!tokens.data) return <Loader aria-label={t.loading} />;
  const change = async (what: () => Promise<void>) => {
    setError(undefined);
    try {
      await what();
    } catch (thrown) {
      setError(thrown);
    }
    await client.invalidateQueries({ queryKey: ['tokens'] });
  };
  const make = (e: FormEvent) => {
    e.preventDefault();
    void change(async () => {
      const body = { name: name.trim(), days: Number(days), user: user ?? undefined };
      setMade(await data(api.POST('/api/v1/tokens', { body })));
      setName('');
    });
  };
  const end = (id: string) =>
    change(async () => {
      await api.DELETE('/api/v1/tokens/{id}', { params: { path: { id } } });
    });
  return (
    <Stack>
      <Refusal error={error} />
      <form onSubmit={make}>
        <Group align="flex-end">
          <TextInput
            label={t.tokenFor}
            value={name}
            onChange={(e) => setName(e.currentTarget.value)}
            maxLength={63}
            required
            dir="auto"
          />
          <Select
            label={t.user}
            value={user}
            onChange={setUser}
            data={(users.data?.users ?? []).map((u) => u.name)}
            searchable
            required
          />
          <NumberInput label={t.days} value={days} onChange={setDays} min={1} max={3650} w={120} />
          <Button type="submit" disabled={!name.trim() || !user || !Number(days)}>
            {t.makeToken}
          </Button>
        </Group>
      </form>
      {made?.secret && (
        <Alert title={t.secret} role="status">
          <CopyLine text={made.secret} />
        </Alert>
      )}
      {tokens.data.tokens.length === 0 ? (
        <Text>{t.noTokens}</Text>
      ) : (
        <Table.ScrollContainer minWidth={500}>
          <Table verticalSpacing="xs">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t.token}</Table.Th>
                <Table.Th>{t.user}</Table.Th>
                <Table.Th>{t.tokenFor}</Table.Th>
                <Table.Th>{t.limits}</Table.Th>
                <Table.Th>{t.until}</Table.Th>
                <Table.Th>
                  <span className="unseen">{t.end}</span>
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {tokens.data.tokens.map((k) => (
                <Table.Tr key={k.id}>
                  <Table.Td>
                    <Code>{k.id}</Code>
                  </Table.Td>
                  <Table.Td dir="auto">{k.user}</Table.Td>
                  <Table.Td dir="auto">{k.name}</Table.Td>
                  <Table.Td>{k.roles.join(', ') || t.usersRoles}</Table.Td>
                  <Table.Td>{dateTime(k.expires_at)}</Table.Td>
                  <Table.Td>
                    <Button size="xs" variant="default" aria-label={t.revoke(k.id)} onClick={() => void end(k.id)}>
                      {t.end}
                    </Button>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Stack>
  );
}
