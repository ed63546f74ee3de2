import { Alert, Anchor, Button, Group, Loader, Stack, Tabs, Text, Title } from '@mantine/core';
import { IconPlugConnectedX } from '@tabler/icons-react';
import { type ComponentType, lazy, Suspense, useLayoutEffect, useRef } from 'react';
import { Link, useNavigate, useParams } from 'react-router';

import { problemOf } from '../../api/problem';
import { useRobot } from '../../live/robots';
import { texts } from '../../text/language';
import { Header } from './Header';
import { joined } from './joined';
import Now from './Now';
import { PageContext, useDetail, useStale } from './page';
import { useCollect } from './samples';
import { useRobotTexts } from './text';

const useTexts = texts(
  {
    unknown: (id: string) => `fleetd knows no robot ${id}`,
    toRobots: 'All robots',
    tabs: { now: 'Now', story: 'Story', events: 'Events', telemetry: 'Telemetry', setup: 'Setup', raw: 'Raw' },
    tabList: 'Parts of this page',
    away: 'The robot is not connected. What you see is the last that it reported.',
    awayHelp:
      'A story, settings or labels that you change now are kept, and applied when it is back. A mode command waits 30 seconds for it and then expires; other commands are not possible.',
  },
  {
    unknown: (id: string) => `fleetd kennt keinen Roboter ${id}`,
    toRobots: 'Alle Roboter',
    tabs: {
      now: 'Jetzt',
      story: 'Geschichte',
      events: 'Ereignisse',
      telemetry: 'Messwerte',
      setup: 'Einrichtung',
      raw: 'Roh',
    },
    tabList: 'Teile dieser Seite',
    away: 'Der Roboter ist nicht verbunden. Sie sehen, was er zuletzt gemeldet hat.',
    awayHelp:
      'Geschichte, Einstellungen und Labels, die Sie jetzt ändern, werden aufbewahrt und angewendet, wenn er zurück ist. Ein Modusbefehl wartet 30 Sekunden auf ihn und läuft dann ab; andere Befehle sind nicht möglich.',
  },
  {
    unknown: (id) => `fleetd ne connaît aucun robot ${id}`,
    toRobots: 'Tous les robots',
    tabs: {
      now: 'Maintenant',
      story: 'Histoire',
      events: 'Événements',
      telemetry: 'Mesures',
      setup: 'Réglages',
      raw: 'Brut',
    },
    tabList: 'Parties de cette page',
    away: 'Le robot n’est pas connecté. Vous voyez ce qu’il a signalé en dernier.',
    awayHelp:
      'Une histoire, des réglages ou des étiquettes que vous changez maintenant sont gardés, et appliqués à son retour. Une commande de mode l’attend 30 secondes puis expire ; les autres commandes ne sont pas possibles.',
  },
);

type Tab = 'now' | 'story' | 'events' | 'telemetry' | 'setup' | 'raw';

const parts: Record<Tab, ComponentType> = {
  now: Now,
  story: lazy(() => import('./StoryTab')),
  events: lazy(() => import('./EventsTab')),
  telemetry: lazy(() => import('./TelemetryTab')),
  setup: lazy(() => import('./SetupTab')),
  raw: lazy(() => import('./RawTab')),
};
const tabs = Object.keys(parts) as Tab[];

/** Everything about one robot. */
export default function Robot() {
  const { id = '', tab = 'now' } = useParams();
  return <RobotPage key={id} id={id} tab={tabs.find((t) => t === tab) ?? 'now'} />;
}

function RobotPage({ id, tab }: { id: string; tab: Tab }) {
  const t = useTexts();
  const common = useRobotTexts();
  const navigate = useNavigate();
  const row = useRobot(id);
  const detail = useDetail(id);
  const stale = useStale(id);
  const robot = joined(row, detail.data);
  const list = useRef<HTMLDivElement>(null);
  const known = robot !== undefined;
  // On a phone the tabs are wider than the screen.
  useLayoutEffect(() => {
    const chosen = list.current?.querySelector<HTMLElement>('[aria-selected=true]');
    if (chosen) list.current!.scrollLeft = chosen.offsetLeft - list.current!.clientWidth / 2 + chosen.offsetWidth / 2;
  }, [tab, known]);
  useCollect(robot && { id, robot, detail: detail.data, stale });
  if (!robot) {
    if (detail.isPending) return <Loader aria-label={common.loading} />;
    const problem = problemOf(detail.error);
    return (
      <Stack align="flex-start">
        <Title order={1} size="h2" dir="auto">
          {problem.status === 404 ? t.unknown(id) : common.failed}
        </Title>
        <Text dir="auto">{[problem.message, problem.hint].filter(Boolean).join('; ')}</Text>
        <Group>
          <Button variant="default" onClick={() => void detail.refetch()}>
            {common.retry}
          </Button>
          <Anchor component={Link} to="/robots">
            {t.toRobots}
          </Anchor>
        </Group>
      </Stack>
    );
  }
  const Part = parts[tab];
  return (
    <PageContext value={{ id, robot, detail: detail.data, stale }}>
      <Stack gap="md">
        {stale === 'robot' && (
          <Alert color="gray" icon={<IconPlugConnectedX aria-hidden />} title={t.away} data-testid="away">
            {t.awayHelp}
          </Alert>
        )}
        <Header />
        <Tabs
          value={tab}
          onChange={(to) => void navigate(`/robots/${encodeURIComponent(id)}${to === 'now' ? '' : `/${to}`}`)}
          keepMounted={false}
        >
          <Tabs.List ref={list} aria-label={t.tabList} className="tab-strip">
            {tabs.map((name) => (
              <Tabs.Tab key={name} value={name} mih={44}>
                {t.tabs[name]}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <Tabs.Panel value={tab} pt="md">
            <Suspense fallback={<Loader aria-label={common.loading} />}>
              <Part />
            </Suspense>
          </Tabs.Panel>
        </Tabs>
      </Stack>
    </PageContext>
  );
}
