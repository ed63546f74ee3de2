import { useMantineColorScheme } from '@mantine/core';
import { createSpotlight, Spotlight, type SpotlightActionData } from '@mantine/spotlight';
import { IconMapPin, IconRobot, IconSearch, IconSend, IconSun } from '@tabler/icons-react';
import { useState } from 'react';
import { useNavigate } from 'react-router';

import type { Robot } from '../api/client';
import { useMe } from '../api/me';
import { performing } from '../live/performing';
import { usePerformingTexts } from '../live/PerformingBadge';
import { robots, useRobots, useSites } from '../live/robots';
import { screens } from '../screens/table';
import { useRightTexts } from '../text/rights';
import { useEarlyKeys } from './earlyKeys';
import { meantRobot, type RobotCommand, robotCommands, useRobotCommandTexts } from './robotCommands';
import { useRobotOfPage, useScope } from './scope';
import { sendStop } from './sendStop';
import { useShellTexts } from './text';

const [store, { open }] = createSpotlight();
export { open as openPalette };

/** At most this many robots are offered; typing narrows them. */
const most = 8;

/** Search over pages, robots and commands, opened with Ctrl-K. */
export function Palette() {
  const t = useShellTexts();
  const words = usePerformingTexts();
  const navigate = useNavigate();
  const me = useMe();
  const [query, setQuery] = useState('');
  const fleet = useRobots();
  const commands = useRobotCommands(query);
  const settings = useSettings(query);
  const onFocus = useEarlyKeys(store);
  const wanted = query.trim().toLowerCase();

  const pages: SpotlightActionData[] = screens
    .filter((s) => s.nav && me?.rights.includes(s.right))
    .map((s) => {
      const Icon = s.icon!;
      return {
        id: s.path,
        label: t.nav[s.nav!],
        leftSection: <Icon size={18} />,
        onClick: () => void navigate(s.path),
      };
    })
    .filter((a) => a.label.toLowerCase().includes(wanted));
  const found: SpotlightActionData[] = firstMatching(fleet, wanted).map((r) => ({
    id: `robot ${r.id}`,
    label: r.id,
    description: words[performing(r).key],
    leftSection: <IconRobot size={18} aria-hidden />,
    onClick: () => void navigate(`/robots/${encodeURIComponent(r.id)}`),
  }));
  return (
    <Spotlight
      store={store}
      actions={[...pages, ...found, ...commands, ...settings]}
      filter={(_, actions) => actions}
      query={query}
      onQueryChange={setQuery}
      shortcut={['mod + K']}
      nothingFound={t.nothingFound}
      highlightQuery
      searchProps={{
        leftSection: <IconSearch size={18} aria-hidden />,
        placeholder: t.searchHint,
        'aria-label': t.search,
        onFocus,
      }}
    />
  );
}

/** The first robots whose name or label has the text; it stops looking when it has enough. */
function firstMatching(fleet: readonly Robot[], wanted: string): Robot[] {
  const found: Robot[] = [];
  for (const r of fleet) {
    if (`${r.id} ${Object.values(r.labels).join(' ')}`.toLowerCase().includes(wanted)) found.push(r);
    if (found.length === most) break;
  }
  return found;
}

const has = (label: string, words: readonly string[]) => words.every((w) => label.toLowerCase().includes(w));

/** The commands for the robot that the query or the page means. Without the right they say which roles have it. */
function useRobotCommands(query: string): SpotlightActionData[] {
  const t = useRobotCommandTexts();
  const { lacks } = useRightTexts();
  const rights = useMe()?.rights ?? [];
  const { robot, words } = meantRobot(query, (id) => robots.get(id) !== undefined, useRobotOfPage());
  if (!robot) return [];
  return robotCommands
    .map((c) => ({
      id: `${c.key} ${robot}`,
      label: t[c.key](robot),
      description: rights.includes(c.right) ? undefined : lacks(t.rights[c.right], c.right),
      disabled: !rights.includes(c.right),
      leftSection: <IconSend size={18} aria-hidden />,
      onClick: () => void order(robot, c, t[c.key](robot)),
    }))
    .filter((a) => has(a.label, words));
}

/** Sends a command, which says by itself what became of it. */
async function order(robot: string, c: RobotCommand, label: string): Promise<void> {
  if (!c.verb) return sendStop({ robot }, [robot]);
  const { send } = await import('../screens/robot/sending'); // not for the first load
  await send(robot, c.verb, c.args ?? {}, label);
}

/** The site of the console and its colors, for people who write a part of their names. */
function useSettings(query: string): SpotlightActionData[] {
  const t = useShellTexts();
  const sites = useSites();
  const { choose } = useScope();
  const { setColorScheme } = useMantineColorScheme();
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const site = (value: string, name: string): SpotlightActionData & { label: string } => ({
    id: `site ${value}`,
    label: `${t.scope}: ${name}`,
    leftSection: <IconMapPin size={18} aria-hidden />,
    onClick: () => choose(value),
  });
  return [
    ...(sites.length > 0 ? [site('', t.allSites)] : []),
    ...sites.map((s) => site(s, s)),
    ...(['light', 'dark', 'auto'] as const).map((scheme) => ({
      id: `colors ${scheme}`,
      label: `${t.colors}: ${t[scheme]}`,
      leftSection: <IconSun size={18} aria-hidden />,
      onClick: () => setColorScheme(scheme),
    })),
  ].filter((a) => has(a.label, words));
}
