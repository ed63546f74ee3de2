import { Badge, Box, Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { api, data, type Schemas } from '../../api/client';
import { lineOf } from '../../api/lines';
import { CommandLine } from '../../shell/CommandLine';
import { ListState } from '../../shell/ListState';
import { Refused } from '../../shell/Refused';
import { dateTime } from '../../text/time';
import { browserName } from './browserName';
import { Rows } from './Rows';
import { useAdminTexts } from './text';
import { useChange } from './useChange';

type Session = Schemas['ActiveSession'];

/** Where a user is signed in, with a button that ends each sign-in, and one that ends all but that of this page. */
export function SessionsOf({ user, own, label }: { user: string; own?: boolean; label: string }) {
  const t = useAdminTexts();
  const list = useQuery({
    queryKey: ['sessions', user],
    queryFn: () => data(api.GET('/api/v1/sessions', { params: { query: { user } } })),
  });
  const { change, error, busy } = useChange('sessions');
  const sessions = list.data?.sessions ?? [];
  const others = sessions.filter((s) => !s.this).length;
  const query = own ? undefined : { user };
  const end = (s: Session) =>
    change(t.signedOut(browserName(s.agent ?? '')), () =>
      api.DELETE('/api/v1/sessions/{id}', { params: { path: { id: s.id } } }),
    );
  const endAll = () =>
    change(own ? t.othersSignedOut : t.allSignedOut(user), () => api.DELETE('/api/v1/sessions', { params: { query } }));
  return (
    <Stack gap="sm">
      {error !== undefined && <Refused error={error} />}
      <ListState of={list} rows={sessions.length} empty={t.noSessions} />
      <Rows
        label={label}
        rows={sessions}
        keyOf={(s) => s.id}
        columns={[
          {
            head: t.browser,
            cell: (s) => (
              <>
                <Group gap={6}>
                  <Text fw={500} size="sm" dir="auto" className="any-text" title={s.agent}>
                    {s.agent ? browserName(s.agent) : t.unknownBrowser}
                  </Text>
                  {s.this && (
                    <Badge size="sm" variant="light" tt="none">
                      {t.thisSession}
                    </Badge>
                  )}
                </Group>
                <Text component="div" size="xs" c="dimmed" className="any-text">
                  {s.address && t.fromAddress(s.address)}
                </Text>
              </>
            ),
          },
          { head: t.signedIn, cell: (s) => dateTime(s.since) },
          { head: t.lastUsed, cell: (s) => (s.used_at ? dateTime(s.used_at) : t.notSinceStart) },
          {
            head: t.end,
            headHidden: true,
            cell: (s) =>
              !s.this && (
                <Group gap={4} justify="flex-end">
                  <Box visibleFrom="md">
                    <CommandLine compact lines={[lineOf('end-session', { path: { id: s.id } })]} />
                  </Box>
                  <Button
                    size="xs"
                    variant="default"
                    aria-label={t.endSession(browserName(s.agent ?? ''), s.address ?? '')}
                    onClick={() => void end(s)}
                  >
                    {t.end}
                  </Button>
                </Group>
              ),
          },
        ]}
      />
      {others > (own ? 0 : 1) && (
        <Group>
          <Button variant="default" loading={busy} onClick={() => void endAll()}>
            {own ? t.endOthers : t.endAll}
          </Button>
          <CommandLine lines={[lineOf('end-sessions', { query })]} />
        </Group>
      )}
    </Stack>
  );
}
