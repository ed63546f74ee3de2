import { Anchor, Group, Stack, Text } from '@mantine/core';
import { Link } from 'react-router';

import type { Robot } from '../../api/client';
import { performing } from '../../live/performing';
import { PerformingBadge, useAbout } from '../../live/PerformingBadge';
import { problem } from '../robots/order';
import { most, Panel, RobotLink } from './Panels';
import { useOverviewTexts } from './text';

/** Robots that perform, or that wait on purpose, have this place in the order or a later one. */
const well = 4;

/** The robots that need a person, the most urgent first, each with the reason. */
export function LookFirst({ fleet }: { fleet: readonly Robot[] }) {
  const t = useOverviewTexts();
  const about = useAbout();
  const all = fleet.filter((r) => problem(r) < well).sort((a, b) => problem(a) - problem(b) || (a.id < b.id ? -1 : 1));
  return (
    <Panel title={t.firstTitle}>
      {all.length === 0 && fleet.length > 0 && <Text size="sm">{t.allWell}</Text>}
      <Stack gap={6}>
        {all.slice(0, most).map((r) => (
          <Group key={r.id} gap="xs" align="baseline">
            <RobotLink id={r.id} />
            <PerformingBadge robot={r} link />
            <Text size="sm" c="dimmed" dir="auto" style={{ overflowWrap: 'anywhere' }}>
              {why(r, about)}
            </Text>
          </Group>
        ))}
        {all.length > most && (
          <Anchor component={Link} to="/robots" size="sm">
            {t.more(all.length - most)}: {t.allOfThem}
          </Anchor>
        )}
      </Stack>
    </Panel>
  );
}

/** What a robot says about its state, in one line. */
function why(r: Robot, about: ReturnType<typeof useAbout>): string {
  if (r.presence.view !== 'online') return [r.presence.why, r.labels.site].filter(Boolean).join(', ');
  const of = about(performing(r).of);
  const alert = r.alerts[0]?.detail;
  return [of, alert !== of && alert, r.labels.site].filter(Boolean).join(', ');
}
