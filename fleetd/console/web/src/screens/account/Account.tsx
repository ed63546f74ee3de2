import { Alert, Anchor, Button, Group, Loader, Stack, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Link } from 'react-router';

import { api, data } from '../../api/client';
import { type Me, useMe } from '../../api/me';
import { OwnPassword } from '../../shell/OwnPassword';
import { ScreenHead } from '../../shell/ScreenHead';
import { SessionsOf } from '../admin/Sessions';
import { TokensOf } from '../admin/Tokens';
import { useAccountTexts } from './text';

/** The person's own password, sessions and tokens, which everybody who is signed in has. */
export default function Account() {
  const t = useAccountTexts();
  const me = useMe();
  if (!me) return <Loader aria-label={t.title} />;
  return (
    <Stack maw={1100} gap="xl">
      <ScreenHead title={t.title} about={t.about} />
      {me.kind === 'dev' ? (
        <Alert color="gray">
          {t.dev}{' '}
          <Anchor component={Link} to="/sign-in?next=%2Faccount" inherit underline="always">
            {t.signIn}
          </Anchor>
        </Alert>
      ) : (
        <>
          <Who me={me} />
          <Stack component="section" aria-labelledby="sessions">
            <Title order={2} size="h4" id="sessions">
              {t.sessions}
            </Title>
            <Text size="sm" c="dimmed" maw={720}>
              {t.sessionsHelp}
            </Text>
            <SessionsOf user={me.id} own label={t.sessions} />
          </Stack>
          <Stack component="section" aria-labelledby="tokens">
            <Title order={2} size="h4" id="tokens">
              {t.tokens}
            </Title>
            <Text size="sm" c="dimmed" maw={720}>
              {t.tokensHelp}
            </Text>
            <TokensOf users={[{ name: me.id, roles: me.roles }]} own={me.id} label={t.tokens} />
          </Stack>
        </>
      )}
    </Stack>
  );
}

function Who({ me }: { me: Me }) {
  const t = useAccountTexts();
  const [changing, setChanging] = useState(false);
  const ways = useQuery({ queryKey: ['session'], queryFn: () => data(api.GET('/api/v1/session')) });
  const how = [me.password && t.withPassword, me.provider && ways.data?.provider].filter(Boolean).join(', ');
  const rows: [string, ReactNode][] = [
    [t.user, me.id],
    ...(me.name ? [[t.name, me.name] as [string, ReactNode]] : []),
    [t.roles, me.roles.join(', ') || t.noRoles],
    [t.sites, me.sites.join(', ') || t.allSites],
    [
      t.signsIn,
      <Group key="how" gap="sm">
        {how && <span dir="auto">{how}</span>}
        {me.password ? (
          <Button size="xs" variant="default" onClick={() => setChanging(true)}>
            {t.changePassword}
          </Button>
        ) : (
          <Text size="sm" c="dimmed">
            {t.noPassword}
          </Text>
        )}
      </Group>,
    ],
  ];
  return (
    <>
      <Table maw={720} verticalSpacing="xs" aria-label={t.title}>
        <Table.Tbody>
          {rows.map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th scope="row" w={{ base: 130, sm: 220 }}>
                {name}
              </Table.Th>
              <Table.Td dir="auto" className="any-text">
                {value}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {changing && <OwnPassword user={me.id} onClose={() => setChanging(false)} />}
    </>
  );
}
