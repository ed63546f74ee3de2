import { Anchor, Button, Group, Stack, Text, Title } from '@mantine/core';
import { IconDeviceTv } from '@tabler/icons-react';
import { useEffect, useMemo } from 'react';
import { Link, useSearchParams } from 'react-router';

import { useLive } from '../../live/stream';
import { useRobotsOfSite, useScope } from '../../shell/scope';
import { usePresenceWords, useTermWords } from '../../text/terms';
import { count, type Counts } from './counts';
import { AlertPanel } from './AlertPanel';
import { FleetBattery } from './FleetBattery';
import { Greeting } from './Greeting';
import { LookFirst } from './LookFirst';
import { NeedsAdministrator, Driving, FleetdPanel, LastEvents, Panel } from './Panels';
import { Next } from './Next';
import { Stage, ToneLine } from './Stage';
import { useOverviewTexts } from './text';
import { Wall } from './Wall';

/** The stage now: what needs a person, who plays what and where, and what comes next. Each number is a link to its robots. */
export default function Overview() {
  const t = useOverviewTexts();
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
      {fleet.length > 0 && <ToneLine tones={c.tones} total={c.total} />}
      <NeedsAdministrator fleet={fleet} actions />
      <LookFirst fleet={fleet} />
      <Greeting fleet={fleet} />
      <Stage fleet={fleet} />
      <div className="overview">
        <Stack>
          <AlertPanel ids={ids} />
          <Next site={site} />
          <OtherNumbers counts={c} />
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

/** Numbers of what is not as usual, each with the link to its robots; nothing if all is as usual. */
function OtherNumbers({ counts: c }: { counts: Counts }) {
  const t = useOverviewTexts();
  const presence: Record<string, string> = usePresenceWords();
  const modes: Record<string, string> = useTermWords().ModeID;
  const rows: [n: number, name: string, to: string][] = [
    ...[...c.presence]
      .filter(([p]) => p !== 'online')
      .map(([p, n]): [number, string, string] => [n, presence[p] ?? p, `presence=${p}`]),
    ...[...c.modes]
      .filter(([m]) => m !== 'ato')
      .map(([m, n]): [number, string, string] => [n, modes[m] ?? m, `mode=${m}`]),
    [c.paused, t.paused, 'doing=paused&doing=paused_by_safety'],
    [c.noStory, t.noStory, 'story_state=none'],
    [c.refused, t.refused, 'story_state=refused'],
    [c.pending, t.pending, 'story_state=pending'],
  ];
  const some = rows.filter(([n]) => n > 0);
  if (some.length === 0) return null;
  return (
    <Panel title={t.unusualTitle}>
      {some.map(([n, name, to]) => (
        <Group key={to} justify="space-between" mih={28}>
          <Anchor component={Link} to={`/robots?${to}`} size="sm" c="inherit">
            {name}
          </Anchor>
          <Text fw={500}>{n}</Text>
        </Group>
      ))}
    </Panel>
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
