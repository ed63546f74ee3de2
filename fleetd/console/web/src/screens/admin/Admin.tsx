import { Alert, Stack, Tabs } from '@mantine/core';
import { IconLock } from '@tabler/icons-react';
import type { ComponentType } from 'react';
import { useSearchParams } from 'react-router';

import { useMe } from '../../api/me';
import { ScreenHead } from '../../shell/ScreenHead';
import { About } from './About';
import { Enrol } from './Enrol';
import { Health } from './Health';
import { Sites } from './Sites';
import { useAdminTexts } from './text';
import { Tokens } from './Tokens';
import { Users } from './Users';

const parts = {
  users: Users,
  tokens: Tokens,
  sites: Sites,
  enrol: Enrol,
  health: Health,
  about: About,
} satisfies Record<string, ComponentType>;
const names = Object.keys(parts) as (keyof typeof parts)[];

/** Accounts, enrolment of robots, and how fleetd is. The address has the part that is open. */
export default function Admin() {
  const t = useAdminTexts();
  const me = useMe();
  const [query, setQuery] = useSearchParams();
  const open = names.find((n) => n === query.get('tab')) ?? names[0]!;
  return (
    <Stack>
      <ScreenHead title={t.title} about={t.about} />
      {me && !me.rights.includes('administer') ? (
        <Alert color="gray" icon={<IconLock aria-hidden />} title={t.forbidden} />
      ) : (
        <Tabs value={open} onChange={(v) => setQuery({ tab: v ?? '' }, { replace: true })} keepMounted={false}>
          <Tabs.List aria-label={t.title}>
            {names.map((n) => (
              <Tabs.Tab key={n} value={n}>
                {t.tabs[n]}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          {names.map((n) => {
            const Part = parts[n];
            return (
              <Tabs.Panel key={n} value={n} pt="md">
                <Part />
              </Tabs.Panel>
            );
          })}
        </Tabs>
      )}
    </Stack>
  );
}
