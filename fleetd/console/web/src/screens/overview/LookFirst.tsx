import { Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';

import type { Robot } from '../../api/client';
import { useMay } from '../../api/me';
import { performing } from '../../live/performing';
import { PerformingBadge, useAbout } from '../../live/PerformingBadge';
import { clock } from '../../text/time';
import { BulkDialog } from '../robots/BulkDialog';
import { lookFirst, pausedByPeople } from './first';
import { maxRows, Panel, RobotLink } from './Panels';
import { useOverviewTexts } from './text';

/** The robots that need a person, the most urgent first, each with the reason. */
export function LookFirst({ fleet }: { fleet: readonly Robot[] }) {
  const t = useOverviewTexts();
  const about = useAbout();
  const may = useMay('command');
  const [back, setBack] = useState<string>();
  const all = lookFirst(fleet);
  const paused = pausedByPeople(fleet);
  return (
    <Panel title={t.firstTitle}>
      {all.length === 0 && fleet.length > 0 && <Text size="sm">{t.allWell}</Text>}
      <Stack gap={0}>
        {all.slice(0, maxRows).map((r) => (
          <div key={r.id} className="look-first">
            <Group gap="xs">
              <RobotLink id={r.id} />
              {r.labels.site && (
                <Text size="sm" c="dimmed" dir="auto">
                  {r.labels.site}
                </Text>
              )}
              <PerformingBadge robot={r} link />
              {r.doing === 'undriven' && may && (
                <Button size="compact-sm" variant="default" onClick={() => setBack(r.id)}>
                  {t.backToAutomatic}
                </Button>
              )}
            </Group>
            <Text size="sm" c="dimmed" dir="auto" style={{ overflowWrap: 'anywhere' }}>
              {whyOf(r, about)}
            </Text>
          </div>
        ))}
        {all.length > maxRows && (
          <Anchor component={Link} to="/robots" size="sm">
            {t.more(all.length - maxRows)}: {t.allOfThem}
          </Anchor>
        )}
      </Stack>
      {paused.length > 0 && (
        <Text size="sm" dir="auto" className="any-text" data-testid="paused-by-people">
          {t.pausedBy(
            paused.length,
            paused
              .slice(0, maxRows)
              .map((p) => t.pausedOne(p.id, p.by, clock(p.since)))
              .join('; '),
          )}
          {paused.length > maxRows && `; ${t.more(paused.length - maxRows)}`}
        </Text>
      )}
      {back && (
        <BulkDialog
          action={{ kind: 'verb', name: 'mode', mode: 'ato' }}
          selector={{ ids: [back] }}
          name={back}
          onClose={() => setBack(undefined)}
        />
      )}
    </Panel>
  );
}

/** What a robot says about its state, in one line. */
export function whyOf(r: Robot, about: ReturnType<typeof useAbout>): string {
  if (r.presence.status !== 'online') return r.presence.why ?? '';
  const of = about(performing(r).of);
  const alert = r.alerts[0]?.detail;
  return [of, alert !== of && alert].filter(Boolean).join(', ');
}
