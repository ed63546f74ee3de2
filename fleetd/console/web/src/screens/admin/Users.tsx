import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { IconLock, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { api, data } from '../../api/client';
import { useMe } from '../../api/me';
import { ListState } from '../../shell/ListState';
import { Rows } from './Rows';
import { useAdminTexts } from './text';
import { type Account, UserDialog } from './UserDialog';

/** The users, as fleetd keeps them. */
export const useUsers = () => useQuery({ queryKey: ['users'], queryFn: () => data(api.GET('/api/v1/users')) });

/** The users, and a dialog that adds or changes one. */
export function Users() {
  const t = useAdminTexts();
  const list = useUsers();
  const dev = useMe()?.dev;
  const [open, setOpen] = useState<Account | 'new'>();
  const users = list.data?.users ?? [];
  return (
    <Stack align="flex-start">
      <Button leftSection={<IconPlus size={18} aria-hidden />} onClick={() => setOpen('new')}>
        {t.addUser}
      </Button>
      {dev && <Text size="sm">{t.usersInDev}</Text>}
      <ListState of={list} rows={users.length} empty={t.noUsers} />
      <Rows
        label={t.tabs.users}
        rows={users}
        keyOf={(u) => u.name}
        stale={(u) => u.disabled}
        columns={[
          {
            head: t.user,
            cell: (u) => (
              <>
                <Text fw={500} size="sm" className="any-text">
                  {u.name}
                </Text>
                <Text size="xs" c="dimmed" dir="auto" className="any-text">
                  {u.display}
                </Text>
              </>
            ),
          },
          {
            head: t.roles,
            cell: (u) => (
              <Group gap={4}>
                {u.roles.map((r) => (
                  <Badge key={r} variant="default" tt="none">
                    {r}
                  </Badge>
                ))}
              </Group>
            ),
          },
          { head: t.sites, cell: (u) => u.sites.join(', ') || t.allSites },
          { head: t.signsIn, cell: (u) => <SignsIn of={u} /> },
          {
            head: t.edit,
            headHidden: true,
            cell: (u) => (
              <Button size="xs" variant="default" aria-label={t.change(u.name)} onClick={() => setOpen(u)}>
                {t.edit}
              </Button>
            ),
          },
        ]}
      />
      {open && <UserDialog user={open === 'new' ? undefined : open} onClose={() => setOpen(undefined)} />}
    </Stack>
  );
}

function SignsIn({ of }: { of: Account }) {
  const t = useAdminTexts();
  if (!of.disabled)
    return [of.password && t.withPassword, of.subject && t.withProvider].filter(Boolean).join(', ') || t.withTokens;
  return (
    <Badge color="gray" variant="light" tt="none" leftSection={<IconLock size={12} aria-hidden />}>
      {t.disabled}
    </Badge>
  );
}
