import { Alert, Button, Code, Group, Loader, Paper, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { useSearchParams } from 'react-router';

import { api, data } from '../../api/client';
import { useMe } from '../../api/me';
import { ScreenHead } from '../../shell/ScreenHead';
import { Refused } from '../../shell/Refused';
import { askedLogin, denied } from './asked';
import { useAccountTexts } from './text';

/** Lets the person who is signed in allow the command line of a machine to act as them. */
export default function AllowLogin() {
  const t = useAccountTexts();
  const [query] = useSearchParams();
  const result = query.get('result');
  return (
    <Stack maw={640}>
      <ScreenHead title={t.allowTitle} />
      {result === 'done' ? (
        <Alert color="green" role="status" icon={<IconCheck aria-hidden />} title={t.done} />
      ) : result ? (
        <Alert color="red" role="alert" icon={<IconX aria-hidden />} title={t.failed} />
      ) : (
        <Question search={query.toString()} />
      )}
    </Stack>
  );
}

function Question({ search }: { search: string }) {
  const t = useAccountTexts();
  const me = useMe();
  const asked = askedLogin(search);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  if (!me) return <Loader aria-label={t.allowTitle} />;
  if (!asked) return <Alert color="red" role="alert" icon={<IconAlertTriangle aria-hidden />} title={t.wrong} />;
  if (me.kind === 'dev') return <Alert color="gray">{t.dev}</Alert>;
  const allow = async () => {
    setBusy(true);
    setError(undefined);
    try {
      window.location.assign((await data(api.POST('/api/v1/logins', { body: asked }))).redirect);
    } catch (thrown) {
      setError(thrown);
      setBusy(false);
    }
  };
  return (
    <Paper withBorder p="lg">
      <Stack>
        <Text>
          {t.asks}{' '}
          <b dir="auto" className="any-text">
            {asked.machine}
          </b>
        </Text>
        <Group gap="xs">
          <Text>{t.compare}</Text>
          <Code fz="lg" data-testid="letters" dir="ltr">
            {asked.state.slice(0, 4)} {asked.state.slice(4, 8)}
          </Code>
        </Group>
        <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />}>
          {t.onlyIf}
        </Alert>
        <Text size="sm" dir="auto">
          {t.gets(me.id, me.roles.join(', '))}
        </Text>
        {error !== undefined && <Refused error={error} />}
        <Group justify="flex-end">
          <Button variant="default" size="md" onClick={() => window.location.assign(denied(asked))}>
            {t.deny}
          </Button>
          <Button size="md" loading={busy} onClick={() => void allow()}>
            {t.allow}
          </Button>
        </Group>
      </Stack>
    </Paper>
  );
}
