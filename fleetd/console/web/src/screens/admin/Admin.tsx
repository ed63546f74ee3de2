import { Alert, Stack, Tabs, Title } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';

import { useMe } from '../../api/me';
import { About } from './About';
import { Enrol } from './Enrol';
import { useAdminTexts } from './text';
import { Tokens } from './Tokens';
import { Users } from './Users';

/** Accounts, enrolment of robots, and how fleetd is. */
export default function Admin() {
  const t = useAdminTexts();
  const me = useMe();
  return (
    <Stack>
      <Title order={1} size="h2">
        {t.title}
      </Title>
      {me?.dev && <Alert icon={<IconAlertTriangle aria-hidden />}>{t.dev}</Alert>}
      <Tabs defaultValue="users" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="users">{t.tabs.users}</Tabs.Tab>
          <Tabs.Tab value="tokens">{t.tabs.tokens}</Tabs.Tab>
          <Tabs.Tab value="enrol">{t.tabs.enrol}</Tabs.Tab>
          <Tabs.Tab value="about">{t.tabs.about}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="users" pt="md">
          <Users />
        </Tabs.Panel>
        <Tabs.Panel value="tokens" pt="md">
          <Tokens />
        </Tabs.Panel>
        <Tabs.Panel value="enrol" pt="md">
          <Enrol />
        </Tabs.Panel>
        <Tabs.Panel value="about" pt="md">
          <About />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  );
}
