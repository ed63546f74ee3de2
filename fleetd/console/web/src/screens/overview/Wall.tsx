import { Anchor, Card, Group, Stack, Text, Title } from '@mantine/core';
import { Link } from 'react-router';
import { useInterval } from '@mantine/hooks';
import { memo, useEffect, useState } from 'react';

import type { Robot } from '../../api/client';
import { performing } from '../../live/performing';
import { PerformingBadge, toneColor, useAbout } from '../../live/PerformingBadge';
import { PlayedRobot } from '../../live/PlayedRobot';
import { RobotName } from '../../live/RobotName';
import { useActing } from '../../live/timeline';
import { fleetdNow } from '../../live/stream';
import { useNameOf } from '../../live/entries';
import { useLanguage } from '../../text/language';
import { ConnectionPill, DevTag } from '../../shell/Connection';
import { problem } from '../robots/order';
import { AlertPanel } from './AlertPanel';
import type { Counts } from './counts';
import { useOwnOf, useWhyOf } from './LookFirst';
import { LastEvents } from './Panels';
import { Scheduled } from './Stage';
import { useStageTexts } from './stageText';
import { useOverviewTexts } from './text';
import { turnOf } from './stage';
import { Tones } from './Tones';

/** So many robots have a tile; the rest are counted. */
const tiles = 36;
/** Up to so many robots, each is drawn larger on a large screen. */
const few = 6;

interface Props {
  fleet: readonly Robot[];
  counts: Counts;
  site: string;
  ids?: Set<string>;
}

/** The fleet for a screen on the wall: read from afar, with nothing to press but the way out. */
export function Wall({ fleet, counts, site, ids }: Props) {
  const t = useOverviewTexts();
  const all = [...fleet].sort((a, b) => problem(a) - problem(b) || (a.id < b.id ? -1 : 1));
  return (
    <Stack>
      <Group justify="space-between" align="center">
        <Group>
          <Title order={1} fz={36}>
            Troupe{site && <bdi>{`, ${site}`}</bdi>}
          </Title>
          <ConnectionPill />
          <DevTag />
        </Group>
        <Group>
          <Anchor component={Link} to="/" c="dimmed" visibleFrom="sm">
            {t.leaveWallHint}
          </Anchor>
          <Anchor component={Link} to="/" c="dimmed" hiddenFrom="sm">
            {t.leaveWall}
          </Anchor>
          <Clock />
        </Group>
      </Group>
      <Tones counts={counts} large />
      <div className="wall" data-few={all.length <= few || undefined}>
        <section aria-label={t.robotsTitle}>
          <div className="wall-tiles" style={turnOf(all.length)}>
            {all.slice(0, tiles).map((r) => (
              <Tile key={r.id} r={r} />
            ))}
          </div>
          {all.length > tiles && (
            <Text fz={22} mt="sm">
              {t.more(all.length - tiles)}
            </Text>
          )}
        </section>
        <Stack>
          <AlertPanel ids={ids} show />
          <LastEvents site={site} notable limit={40} />
        </Stack>
      </div>
    </Stack>
  );
}

const Tile = memo(function Tile({ r }: { r: Robot }) {
  const p = performing(r);
  const about = useAbout();
  const why = useWhyOf();
  const own = useOwnOf();
  const acting = useActing(r);
  const { nextAct } = useStageTexts();
  const act = useNameOf('act');
  return (
    <Card
      withBorder
      p="sm"
      data-testid="tile"
      style={{ borderInlineStart: `6px solid var(--mantine-color-${toneColor[p.tone]}-6)` }}
    >
      <Group wrap="nowrap" gap="sm" align="center">
        <div style={{ flex: '0 0 124px' }}>
          <PlayedRobot robot={r} acting={acting} />
        </div>
        <div style={{ minWidth: 0, flex: 1 }}>
          <Group justify="space-between" wrap="nowrap" gap="xs">
            <RobotName id={r.id} size="28px" fw={500} />
            <Text c="dimmed" dir="auto" truncate>
              {r.labels.site}
            </Text>
          </Group>
          <PerformingBadge robot={r} of={p} size="xl" />
          <Text fz={18} mt={6} dir="auto" lineClamp={2} title={own(r) || undefined}>
            {p.tone === 'good' && r.story ? about({ story: r.story.id, act: r.act }) : why(r) || '\u00a0'}
          </Text>
          {p.key === 'performing' && acting.next && (
            <Text fz={16} c="dimmed" dir="auto" truncate>
              {nextAct(act(acting.next.act))}
            </Text>
          )}
          <Scheduled r={r} fz={16} />
        </div>
      </Group>
    </Card>
  );
});

/** The time of day at fleetd. */
function Clock() {
  const [, tick] = useState(0);
  const seconds = useInterval(() => tick((n) => n + 1), 1000);
  useEffect(() => {
    seconds.start();
    return seconds.stop;
  }, []);
  const language = useLanguage((s) => s.language);
  return (
    <Text fz={36} fw={500} ff="monospace" component="time">
      {new Date(fleetdNow()).toLocaleTimeString(language, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })}
    </Text>
  );
}
