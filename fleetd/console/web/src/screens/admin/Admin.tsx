import { Alert, Stack } from '@mantine/core';
import { IconLock } from '@tabler/icons-react';

import { useMe } from '../../api/me';
import { ScreenHead } from '../../shell/ScreenHead';
import { ScreenTabs } from '../../shell/ScreenTabs';
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
};

/** Accounts, enrolment of robots, and how fleetd is. The address has the part that is open. */
export default function Admin() {
  const t = useAdminTexts();
  const me = useMe();
  return (
    <Stack>
      <ScreenHead title={t.title} about={t.about} />
      {me && !me.rights.includes('administer') ? (
        <Alert color="gray" icon={<IconLock aria-hidden />} title={t.forbidden} />
      ) : (
        <ScreenTabs label={t.title} parts={parts} titles={t.tabs} />
      )}
    </Stack>
  );
}
