import {
  ActionIcon,
  Menu,
  SegmentedControl,
  type SegmentedControlProps,
  Stack,
  Text,
  Tooltip,
  useDirection,
  useMantineColorScheme,
} from '@mantine/core';
import { IconKey, IconLogin, IconLogout, IconUser } from '@tabler/icons-react';
import { useState } from 'react';
import { Link, useLocation } from 'react-router';

import { addressOf } from '../base';
import { api } from '../api/client';
import { useMe } from '../api/me';
import { problemOf } from '../api/problem';
import { stopStream } from '../live/stream';
import { languages, useLanguage, type Language } from '../text/language';
import { OwnPassword } from './OwnPassword';
import { chosenDensity, type Density, keepDensity } from './density';
import { type Direction, keepDirection } from './direction';
import { useShellTexts } from './text';
import { toast } from './toast';

/** Who is signed in, colours, density, language, direction of text, own password, sign-out. */
export function UserMenu() {
  const t = useShellTexts();
  const me = useMe();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { language, choose } = useLanguage();
  const { dir, setDirection } = useDirection();
  const location = useLocation();
  const [density, setDensity] = useState(chosenDensity);
  const [changing, setChanging] = useState(false);
  const signOut = async () => {
    try {
      await api.DELETE('/api/v1/session');
    } catch (thrown) {
      toast({ color: 'red', title: t.stillSignedIn, message: problemOf(thrown).message, autoClose: false });
      return;
    }
    stopStream();
    window.location.assign(addressOf('/sign-in'));
  };
  return (
    <>
      <Menu position="bottom-end" width={280} closeOnItemClick={false}>
        <Menu.Target>
          <Tooltip label={me?.name || me?.id || t.user}>
            <ActionIcon variant="default" size={36} aria-label={t.user}>
              <IconUser size={20} aria-hidden />
            </ActionIcon>
          </Tooltip>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label dir="auto">
            {me?.kind === 'dev'
              ? t.devUser(me.id)
              : `${me?.name || me?.id} ${me?.roles.length ? `(${me.roles.join(', ')})` : ''}`}
          </Menu.Label>
          <Stack gap="xs" p="xs">
            <Choice
              label={t.colors}
              value={colorScheme}
              onChange={(v) => setColorScheme(v as 'auto' | 'light' | 'dark')}
              data={[
                { value: 'light', label: t.light },
                { value: 'dark', label: t.dark },
                { value: 'auto', label: t.auto },
              ]}
            />
            <Choice
              label={t.density}
              value={density}
              onChange={(v) => {
                keepDensity(v as Density);
                setDensity(v as Density);
              }}
              data={[
                { value: 'comfortable', label: t.comfortable },
                { value: 'compact', label: t.compact },
              ]}
            />
            <Choice
              label={t.language}
              value={language}
              onChange={(v) => choose(v as Language)}
              data={Object.entries(languages).map(([value, label]) => ({ value, label }))}
            />
            <Choice
              label={t.direction}
              value={dir}
              onChange={(v) => {
                keepDirection(v as Direction);
                setDirection(v as Direction);
              }}
              data={[
                { value: 'ltr', label: 'A → Z' },
                { value: 'rtl', label: 'Z ← A' },
              ]}
            />
          </Stack>
          {me?.rights.includes('own') && (
            <Menu.Item component={Link} to="/account" leftSection={<IconUser size={16} aria-hidden />} closeMenuOnClick>
              {t.nav.account}
            </Menu.Item>
          )}
          {me?.kind === 'session' && (
            <>
              {me.password && (
                <Menu.Item
                  leftSection={<IconKey size={16} aria-hidden />}
                  closeMenuOnClick
                  onClick={() => setChanging(true)}
                >
                  {t.changePassword}
                </Menu.Item>
              )}
              <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => void signOut()}>
                {t.signOut}
              </Menu.Item>
            </>
          )}
          {me?.kind === 'dev' && (
            <Menu.Item
              component={Link}
              to={`/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`}
              leftSection={<IconLogin size={16} aria-hidden />}
            >
              {t.signIn}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {changing && me && <OwnPassword user={me.id} onClose={() => setChanging(false)} />}
    </>
  );
}

/** A choice among a few, with its name above it. */
function Choice({ label, ...of }: SegmentedControlProps & { label: string }) {
  return (
    <>
      <Text size="xs">{label}</Text>
      <SegmentedControl size="xs" aria-label={label} {...of} />
    </>
  );
}
