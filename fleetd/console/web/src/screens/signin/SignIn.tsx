import { Alert, Anchor, Button, Center, Divider, Paper, Stack, Text, TextInput, Title } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';

import { addressOf } from '../../base';
import { api, data } from '../../api/client';
import { type Problem, problemOf } from '../../api/problem';
import { BrandMark } from '../../shell/BrandMark';
import { Password } from '../../shell/Password';
import { nextOf } from './next';
import { refusalOf } from './refusal';
import { useSignInTexts } from './text';

/** Asks who somebody is. The page is reloaded afterwards, so that nothing of the last person stays. */
export default function SignIn() {
  const t = useSignInTexts();
  const [user, setUser] = useState('');
  const [password, setPassword] = useState('');
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<Problem>();
  const ways = useQuery({ queryKey: ['session'], queryFn: () => data(api.GET('/api/v1/session')) });
  const next = nextOf(window.location.search);
  const provider = ways.data?.provider;
  const byProvider = refused ? undefined : refusalOf(t.refusals, window.location.search);
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    try {
      await api.POST('/api/v1/session', { body: { user: user.trim(), password } });
      window.location.assign(addressOf(next));
    } catch (thrown) {
      setRefused(problemOf(thrown));
      setPassword('');
      setBusy(false);
    }
  };
  return (
    <Center component="main" mih="100vh" p="md">
      <Paper withBorder p="xl" w={400} maw="100%">
        <form onSubmit={(e) => void submit(e)}>
          <Stack>
            <div>
              <BrandMark name={false} />
              <Title order={1} size="h2">
                {t.title}
              </Title>
            </div>
            {refused && (
              <Alert color="red" role="alert" icon={<IconAlertTriangle aria-hidden />} title={refused.message}>
                {refused.hint}
              </Alert>
            )}
            {byProvider && (
              <Alert color="red" role="alert" icon={<IconAlertTriangle aria-hidden />} title={t.notSignedIn}>
                {byProvider}
              </Alert>
            )}
            {provider && (
              <>
                <Button
                  component="a"
                  href={addressOf(`/api/v1/session/provider?next=${encodeURIComponent(next)}`)}
                  variant="default"
                  size="md"
                >
                  <span dir="auto">{t.with(provider)}</span>
                </Button>
                <Divider label={t.or} />
              </>
            )}
            <TextInput
              label={t.user}
              value={user}
              onChange={(e) => setUser(e.currentTarget.value)}
              name="username"
              autoComplete="username"
              autoCapitalize="none"
              size="md"
              maxLength={63}
              required
              autoFocus
              dir="auto"
            />
            <Password
              label={t.password}
              value={password}
              onChange={(e) => setPassword(e.currentTarget.value)}
              name="password"
              autoComplete="current-password"
              size="md"
              required
            />
            <Button type="submit" size="md" loading={busy} disabled={!user.trim() || !password}>
              {t.submit}
            </Button>
            {ways.data?.dev ? (
              <Text size="sm" data-testid="dev">
                {t.dev}{' '}
                <Anchor href={addressOf(next)} underline="always">
                  {t.goOn}
                </Anchor>
              </Text>
            ) : (
              <Text size="sm" c="dimmed">
                {t.first}
              </Text>
            )}
            <Text size="sm" c="dimmed">
              {ways.data?.dev ? t.stopDev : t.stop}
            </Text>
          </Stack>
        </form>
      </Paper>
    </Center>
  );
}
