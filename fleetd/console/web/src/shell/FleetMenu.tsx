import { Button, Menu, Text } from '@mantine/core';
import { IconChevronDown } from '@tabler/icons-react';
import { useLocation } from 'react-router';

import { useMe } from '../api/me';
import { addressOf } from '../base';
import { fleetAt, pageAt } from './fleets';
import type { ScreensProps } from './screens';
import { useShellTexts } from './text';

/** Which fleet this is, and links to the same screen of the others; nothing without others. */
export function FleetMenu({ screens }: ScreensProps) {
  const t = useShellTexts();
  const fleets = useMe()?.fleets ?? [];
  const location = useLocation();
  if (fleets.length < 2) return null;
  const here = fleetAt(fleets, window.location.origin + addressOf(location.pathname));
  const paths = screens.filter((s) => s.nav && !s.path.includes(':')).map((s) => s.path);
  return (
    <Menu position="bottom-start" width={240}>
      <Menu.Target>
        <Button
          variant="default"
          size="xs"
          maw={170}
          rightSection={<IconChevronDown size={14} aria-hidden />}
          aria-label={t.fleetIs(here?.name ?? t.thisFleet)}
        >
          <Text component="span" size="sm" fw={500} truncate dir="auto">
            {here?.name ?? t.thisFleet}
          </Text>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t.otherFleets}</Menu.Label>
        {fleets
          .filter((f) => f !== here)
          .map((f) => (
            <Menu.Item key={f.url} component="a" href={pageAt(f, location.pathname, paths)}>
              <Text component="span" size="sm" dir="auto">
                {f.name}
              </Text>
            </Menu.Item>
          ))}
        <Menu.Label>{t.stopIsOfThisFleet}</Menu.Label>
      </Menu.Dropdown>
    </Menu>
  );
}
