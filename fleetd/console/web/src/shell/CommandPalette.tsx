import { useMantineColorScheme } from '@mantine/core';
import { createSpotlight, Spotlight, type SpotlightActionData } from '@mantine/spotlight';
import { IconMapPin, IconRobot, IconSearch, IconSend, IconSun } from '@tabler/icons-react';
import { type KeyboardEvent, useEffect, useState } from 'react';
import { useNavigate } from 'react-router';

import type { Robot } from '../api/client';
import { useMe } from '../api/me';
import { performing } from '../live/performing';
import { usePerformingTexts } from '../live/PerformingBadge';
import { fullName } from '../live/RobotName';
import { robots, useRobots, useSites } from '../live/robots';
import { useRightTexts } from '../text/rights';
import { useEarlyKeys } from './earlyKeys';
import { finder, meantRobot, namesVerb, type RobotCommand, robotCommands, useRobotCommandTexts } from './robotCommands';
import { useRobotOfPage, useScope } from './scope';
import type { Listed, ScreensProps, Send } from './screens';
import { sendStop } from './sendStop';
import { stopRequest } from './stopping';
import { useShellTexts } from './text';

const [store, { open, close }] = createSpotlight();
export { open as openCommandPalette };

/** At most this many robots are offered; typing narrows them. */
const most = 8;

/** Search over pages, robots and commands, opened with Ctrl-K. */
export function CommandPalette(of: ScreensProps & { send: Send }) {
  const t = useShellTexts();
  const [query, setQuery] = useState('');
  const [asked, ask] = useState<RobotCommand>();
  const { which } = useRobotCommandTexts();
  const actionsFor = useActions({ ...of, asked, ask: (c) => (ask(c), setQuery('')) });
  const actions = actionsFor(query);

  /** Does the first of what the text finds; without a text nothing is meant. */
  const doFirst = (text: string) => {
    const first = text.trim() && actionsFor(text).find((a) => !a.disabled);
    if (!first) return;
    if (first.closeSpotlightOnTrigger !== false) close();
    first.onClick();
  };
  const onFocus = useEarlyKeys(store, doFirst);
  // The list marks an action in the page alone, and forgets it when that action is gone, as when a robot
  // loses its label: Enter would do nothing.
  const ids = actions.map((a) => a.id).join('\n');
  useEffect(() => {
    if (query.trim() && !marked()) markFirst();
  }, [ids]);
  const onKeyDownCapture = (e: KeyboardEvent<HTMLInputElement>) => {
    if (e.key === 'Backspace' && !e.currentTarget.value) ask(undefined);
    if (e.key !== 'Enter' || e.nativeEvent.isComposing) return;
    const text = e.currentTarget.value;
    if (text === query && marked()) return;
    e.preventDefault();
    e.stopPropagation();
    doFirst(text);
  };
  return (
    <Spotlight
      store={store}
      actions={actions}
      filter={(_, all) => all}
      query={query}
      onQueryChange={setQuery}
      shortcut={['mod + K']}
      onSpotlightClose={() => ask(undefined)}
      nothingFound={t.nothingFound}
      highlightQuery
      searchProps={{
        leftSection: <IconSearch size={18} aria-hidden />,
        placeholder: asked ? which : t.searchHint,
        'aria-label': asked ? which : t.search,
        onFocus,
        onKeyDownCapture,
      }}
    />
  );
}

/** The first element of the list of actions that a selector finds. */
const inList = (selector: string) => document.querySelector(`#${store.getState().listId || 'none'} ${selector}`);

/** Whether an action of the list is marked, which Enter then does. */
const marked = () => inList('[data-selected]') !== null;

function markFirst() {
  inList('[data-action]')?.setAttribute('data-selected', 'true');
  store.updateState((s) => ({ ...s, selected: 0 }));
}

type Action = SpotlightActionData & { label: string; keywords?: string; onClick: () => void };

/** Pages, robots and commands that a text finds, in the order in which they are shown. */
function useActions({ screens, send, ...asking }: ScreensProps & { send: Send } & Asking): (query: string) => Action[] {
  const pages = usePages(screens);
  const found = useFoundRobots();
  const commands = useRobotCommands(send, asking);
  const settings = useSettings();
  return (query) => {
    const of = (verb: boolean) =>
      commands(query)
        .filter((c) => c.verb === verb)
        .map((c) => c.action);
    if (asking.asked) return of(false);
    return [...of(true), ...pages(query), ...found(query), ...of(false), ...settings(query)];
  };
}

/** The command whose robot is still asked for, and what asks for it. */
interface Asking {
  asked?: RobotCommand;
  ask: (c: RobotCommand) => void;
}

function usePages(screens: readonly Listed[]): (query: string) => Action[] {
  const t = useShellTexts();
  const navigate = useNavigate();
  const me = useMe();
  return (query) => {
    const wanted = query.trim().toLowerCase();
    const entry = (s: Listed, path: string, label: string): Action => {
      const Icon = s.icon!;
      const keywords = path === s.path ? t.alsoFound[s.nav!] : undefined;
      return { id: path, label, keywords, leftSection: <Icon size={18} />, onClick: () => void navigate(path) };
    };
    return screens
      .filter((s) => s.nav && me?.rights.includes(s.right))
      .flatMap((s) => {
        // Parts are offered to those who look for one: without a query the list is the navigation.
        const parts = s.nav === 'admin' && wanted ? Object.entries(t.adminParts) : [];
        return [
          entry(s, s.path, t.nav[s.nav!]),
          ...parts.map(([part, words]) => entry(s, `${s.path}?tab=${part}`, words)),
        ];
      })
      .filter((a) => `${a.label} ${a.keywords ?? ''}`.toLowerCase().includes(wanted));
  };
}

function useFoundRobots(): (query: string) => Action[] {
  const words = usePerformingTexts();
  const navigate = useNavigate();
  const fleet = useRobots();
  return (query) =>
    firstMatching(fleet, query.trim().toLowerCase()).map((r) => ({
      id: `robot ${r.id}`,
      label: fullName(r),
      description: words[performing(r).key],
      leftSection: <IconRobot size={18} aria-hidden />,
      onClick: () => void navigate(`/robots/${encodeURIComponent(r.id)}`),
    }));
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

/**
 * The commands for the robot that the query or the page means; without one, the commands that then ask for it. Without the right
 * they say which roles have it. Verb: the query begins the name of the command.
 */
function useRobotCommands(send: Send, { asked, ask }: Asking): (query: string) => { verb: boolean; action: Action }[] {
  const t = useRobotCommandTexts();
  const { lacks } = useRightTexts();
  const rights = useMe()?.rights ?? [];
  const ofPage = useRobotOfPage();
  const fleet = useRobots();
  const action = (c: RobotCommand, label: string, words: readonly string[], rest: Omit<Action, 'label'>) => ({
    verb: namesVerb(words, t.verbs[c.key]),
    action: {
      label,
      description: rights.includes(c.right) ? undefined : lacks(t.rights[c.right], c.right),
      disabled: !rights.includes(c.right),
      leftSection: <IconSend size={18} aria-hidden />,
      ...rest,
    },
  });
  const to = (robot: string, c: RobotCommand, words: readonly string[]) => {
    const r = robots.get(robot);
    return action(c, t[c.key](r ? fullName(r) : robot), words, {
      id: `${c.key} ${robot}`,
      onClick: () => void sendCommand(send, robot, c, t[c.key](robot)),
    });
  };
  return (query) => {
    if (asked) return firstMatching(fleet, query.trim().toLowerCase()).map((r) => to(r.id, asked, []));
    const { robot, words } = meantRobot(query, finder(fleet), ofPage);
    if (robot) return robotCommands.map((c) => to(robot, c, words)).filter((c) => has(c.action.label, words));
    if (words.length === 0) return [];
    return robotCommands
      .map((c) =>
        action(c, t.any[c.key], words, { id: `${c.key} …`, onClick: () => ask(c), closeSpotlightOnTrigger: false }),
      )
      .filter((c) => has(c.action.label, words));
  };
}

/** Sends a command, which says by itself what became of it. */
async function sendCommand(send: Send, robot: string, c: RobotCommand, label: string): Promise<void> {
  if (!c.verb) return sendStop(stopRequest({ robot }).body, [robot]);
  await send(robot, c.verb, c.args ?? {}, label);
}

/** The site of the console and its colors, for people who write a part of their names. */
function useSettings(): (query: string) => Action[] {
  const t = useShellTexts();
  const sites = useSites();
  const { choose } = useScope();
  const { setColorScheme } = useMantineColorScheme();
  const site = (value: string, name: string): Action => ({
    id: `site ${value}`,
    label: `${t.scope}: ${name}`,
    leftSection: <IconMapPin size={18} aria-hidden />,
    onClick: () => choose(value),
  });
  return (query) => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return [];
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
  };
}
