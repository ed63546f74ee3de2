import { Anchor, Button, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { IconDeviceTv } from '@tabler/icons-react';
import { useEffect, useMemo } from 'react';
import { Link, useSearchParams } from 'react-router';

import { useLive } from '../../live/stream';
import { useRobotsOfSite, useScope } from '../../shell/scope';
import { usePresenceWords, useTermWords, withTerm } from '../../text/terms';
import { count } from './counts';
import { AlertPanel } from './AlertPanel';
import { FleetBattery } from './FleetBattery';
import { LookFirst } from './LookFirst';
import { NeedsAdministrator, Driving, FleetdPanel, LastEvents, Panel } from './Panels';
import { useOverviewTexts } from './text';
import { Tones } from './Tones';
import { Wall } from './Wall';

/** The whole fleet at a glance: each number is a link to the robots that it counts. */
export default function Overview() {
  const t = useOverviewTexts();
  const presence: Record<string, string> = usePresenceWords();
  const modes: Record<string, string> = useTermWords().ModeID;
  const site = useScope((s) => s.site);
  const live = useLive((s) => s.connection === 'live');
  const fleet = useRobotsOfSite();
  const c = useMemo(() => count(fleet), [fleet]);
  const [query, setQuery] = useSearchParams();
  const wall = query.has('wall');
  useWall(wall, () => setQuery({}));
  const ids = useMemo(() => (site ? new Set(fleet.map((r) => r.id)) : undefined), [site, fleet]);
  if (wall) return <Wall fleet={fleet} counts={c} site={site} ids={ids} />;
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={1} size="h2">
          {t.title}
        </Title>
        <Button
          variant="default"
          leftSection={<IconDeviceTv size={16} aria-hidden />}
          onClick={() => setQuery({ wall: '' })}
        >
          {t.wall}
        </Button>
      </Group>
      {fleet.length === 0 && <Text role="status">{live ? t.none : t.loading}</Text>}
      <Tones counts={c} />
      <NeedsAdministrator fleet={fleet} actions />
      <div className="overview">
        <Stack>
          <SimpleGrid cols={{ base: 1, lg: 2 }}>
            <LookFirst fleet={fleet} />
            <AlertPanel ids={ids} />
          </SimpleGrid>
          <SimpleGrid cols={{ base: 1, sm: 3 }}>
            <Panel title={t.presenceTitle}>
              {Object.keys(presence).map((p) => (
                <Number
                  key={p}
                  n={c.presence.get(p) ?? 0}
                  name={presence[p]!}
                  to={`presence=${p}`}
                  always={p === 'online'}
                />
              ))}
            </Panel>
            <Panel title={t.modesTitle}>
              {[...new Set(['ato', 'mnl', 'str', ...c.modes.keys()])].map((m) => (
                <Number key={m} n={c.modes.get(m) ?? 0} name={withTerm(modes, m)} to={`mode=${m}`} always />
              ))}
              <Number n={c.paused} name={t.paused} to="doing=paused&doing=paused_by_safety" always />
            </Panel>
            <Panel title={t.storiesTitle}>
              <Number n={c.noStory} name={t.noStory} to="story_state=none" always />
              <Number n={c.refused} name={t.refused} to="story_state=refused" always />
              <Number n={c.pending} name={t.pending} to="story_state=pending" always />
            </Panel>
          </SimpleGrid>
        </Stack>
        <div>
          <Stack>
            <Driving fleet={fleet} />
            <FleetBattery site={site} />
          </Stack>
          <FleetdPanel counts={c} />
        </div>
        <LastEvents site={site} />
      </div>
    </Stack>
  );
}

/** A number of robots, and the link to them; a zero is shown only where it says something. */
function Number({ n, name, to, always }: { n: number; name: string; to: string; always?: boolean }) {
  if (n === 0 && !always) return null;
  return (
    <Group justify="space-between" mih={28}>
      <Anchor component={Link} to={`/robots?${to}`} size="sm" c="inherit">
        {name}
      </Anchor>
      <Text fw={700}>{n}</Text>
    </Group>
  );
}

/** On a wall screen there is nothing to press: the frame and its actions are hidden (main.css). */
function useWall(wall: boolean, leave: () => void): void {
  useEffect(() => {
    if (!wall) return;
    document.body.dataset.wall = '';
    const onKey = (e: KeyboardEvent) => e.key === 'Escape' && leave();
    window.addEventListener('keydown', onKey);
    return () => {
      delete document.body.dataset.wall;
      window.removeEventListener('keydown', onKey);
    };
  }, [wall]);
}
