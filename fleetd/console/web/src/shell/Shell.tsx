import {
  ActionIcon,
  AppShell,
  Box,
  Burger,
  Group,
  Loader,
  NavLink,
  ScrollArea,
  Select,
  Stack,
  Text,
  Tooltip,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { Suspense, useEffect, useLayoutEffect, useRef } from 'react';
import { NavLink as RouterLink, Outlet, useLocation, useMatches, useNavigate, useNavigationType } from 'react-router';

import { useMe } from '../api/me';
import { useSites } from '../live/robots';
import { startStream, useLive } from '../live/stream';
import { AlertsBell } from './AlertsBell';
import { BrandMark } from './BrandMark';
import { ConnectionBanners, ConnectionPill, DevTag } from './Connection';
import { Latched } from './Latched';
import { CommandPalette, openCommandPalette } from './CommandPalette';
import { FleetMenu } from './FleetMenu';
import { Release } from './ReleaseDialog';
import { useScope } from './scope';
import { groups, type ScreensProps, type Send } from './screens';
import { Shortcuts } from './shortcuts';
import { StopButton } from './StopButton';
import { useShellTexts } from './text';
import { UserMenu } from './UserMenu';

/** The frame of every screen: navigation, connection, stop, latched stops. */
export function Shell({ screens, send }: ScreensProps & { send: Send }) {
  const t = useShellTexts();
  const [menu, { toggle, close }] = useDisclosure();
  const location = useLocation();
  const navigate = useNavigate();
  const signInRequired = useLive((s) => s.signInRequired);
  const main = useRef<HTMLElement>(null);

  useEffect(startStream, []);
  useEffect(() => {
    if (signInRequired) void navigate(`/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`);
  }, [signInRequired]);
  useEffect(close, [location.pathname]);
  useBeginAtTop();

  return (
    <AppShell
      header={{ height: 64 }}
      navbar={{ width: 210, breakpoint: 'md', collapsed: { mobile: !menu } }}
      padding="md"
    >
      <a className="skip-link" href="#main" onClick={() => main.current?.focus()}>
        {t.skip}
      </a>
      <AppShell.Header>
        <Group className="header-line" h="100%" gap="xs" wrap="nowrap" justify="space-between">
          <Group gap="xs" wrap="nowrap" style={{ minWidth: 0 }}>
            <Burger opened={menu} onClick={toggle} hiddenFrom="md" size="sm" aria-label={t.menu} />
            <BrandMark />
            <Box visibleFrom="sm">
              <FleetMenu screens={screens} />
            </Box>
            <Box visibleFrom="sm">
              <ScopeSelect />
            </Box>
            <ConnectionPill />
            <DevTag />
          </Group>
          <Group gap="xs" wrap="nowrap" visibleFrom="sm">
            <SearchButton />
            <AlertsBell />
            <UserMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <StopButton />
      <AppShell.Navbar p="xs" aria-label={t.navigation} data-closed={!menu || undefined}>
        <AppShell.Section hiddenFrom="sm" pb="xs">
          <FleetMenu screens={screens} />
          <Group gap="xs" wrap="nowrap">
            <ScopeSelect />
            <SearchButton />
            <AlertsBell />
            <UserMenu />
          </Group>
        </AppShell.Section>
        <AppShell.Section grow component={ScrollArea}>
          <Navigation screens={screens} />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main ref={main} id="main" tabIndex={-1}>
        <Stack gap="md">
          <Stack gap={0} className="banners">
            <ConnectionBanners />
            <Latched />
          </Stack>
          <Suspense fallback={<Loader aria-label={t.loading} />}>
            <Outlet />
          </Suspense>
        </Stack>
      </AppShell.Main>
      <CommandPalette screens={screens} send={send} />
      <Release />
      <Shortcuts screens={screens} />
    </AppShell>
  );
}

/**
 * Each screen begins at its top: a robot's page that opens half-way down hides its name and its next step. Another tab
 * of the same robot keeps its place, and so does a screen to which a person goes back.
 */
function useBeginAtTop(): void {
  const last = useMatches().at(-1);
  const back = useNavigationType() === 'POP';
  useLayoutEffect(() => {
    if (!back) window.scrollTo(0, 0);
  }, [last?.id, last?.params.id]);
}

function SearchButton() {
  const t = useShellTexts();
  return (
    <Tooltip label={`${t.search} (Ctrl K)`}>
      <ActionIcon variant="default" size={36} aria-label={t.search} onClick={openCommandPalette}>
        <IconSearch size={20} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}

function Navigation({ screens }: ScreensProps) {
  const t = useShellTexts();
  const me = useMe();
  return groups.map((group) => {
    const those = screens.filter((s) => s.group === group && me?.rights.includes(s.right));
    if (those.length === 0) return null;
    return (
      <div key={group} role="group" aria-labelledby={`menu-${group}`} className="menu-group">
        <Text id={`menu-${group}`} size="xs" c="dimmed" px="sm">
          {t.groups[group]}
        </Text>
        {those.map((s) => {
          const Icon = s.icon!;
          return (
            <NavLink
              key={s.path}
              component={RouterLink}
              to={s.path}
              end={s.path === '/'}
              label={t.nav[s.nav!]}
              leftSection={<Icon size={18} />}
            />
          );
        })}
      </div>
    );
  });
}

/** Which site's robots are shown and stopped. */
function ScopeSelect() {
  const t = useShellTexts();
  const { site, choose } = useScope();
  const sites = useSites();
  if (sites.length === 0) return null;
  return (
    <Select
      aria-label={t.scope}
      size="xs"
      w={150}
      value={site}
      onChange={(v) => choose(v ?? '')}
      allowDeselect={false}
      checkIconPosition="right"
      comboboxProps={{ width: 200, position: 'bottom-start' }}
      data={[{ value: '', label: t.allSites }, ...sites.map((s) => ({ value: s, label: s }))]}
    />
  );
}
