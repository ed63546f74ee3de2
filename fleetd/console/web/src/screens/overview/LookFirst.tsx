import { Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';

import type { Robot } from '../../api/client';
import { useMay } from '../../api/me';
import { useNamesIn } from '../../live/entries';
import { drawnOf } from '../../live/drawnFrom';
import { DrawnRobot } from '../../live/DrawnRobot';
import { performing } from '../../live/performing';
import { PerformingBadge, useAbout } from '../../live/PerformingBadge';
import { OwnSentence } from '../../live/OwnSentence';
import { fullName, RobotName } from '../../live/RobotName';
import { alertSays, ownBeside, useAlertWords } from '../../text/alerts';
import { ownPresence, presenceText } from '../../text/presence';
import { clock } from '../../text/time';
import { wayOut } from '../robot/wayOut';
import { useWayOutTexts } from '../robot/wayOutText';
import { BulkDialog } from '../robots/BulkDialog';
import { lookFirst, pausedByPeople } from './first';
import { maxRows, Panel } from './Panels';
import css from './Stage.module.css';
import { useStageTexts } from './stageText';
import { useOverviewTexts } from './text';

/** The robots that need a person, the most urgent first, each with the reason. */
export function LookFirst({ fleet }: { fleet: readonly Robot[] }) {
  const t = useOverviewTexts();
  const why = useWhyOf();
  const own = useOwnOf();
  const may = useMay('command');
  const [back, setBack] = useState<string>();
  const all = lookFirst(fleet);
  const paused = pausedByPeople(fleet);
  if (all.length === 0 && paused.length === 0) return null;
  return (
    <Panel title={t.firstTitle}>
      <Stack gap={0}>
        {all.slice(0, maxRows).map((r) => (
          <Group key={r.id} className={css.trouble} wrap="nowrap" align="flex-start" gap="md">
            <div className={css.picture}>
              <DrawnRobot of={drawnOf(r)} name={fullName(r)} />
            </div>
            <Stack gap={4} miw={0} flex={1}>
              <Group gap="xs">
                <RobotName id={r.id} link size="lg" fw={500} />
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
                {why(r)}
              </Text>
              <OwnSentence>{own(r)}</OwnSentence>
              <NextStep r={r} />
            </Stack>
          </Group>
        ))}
        {all.filter((r) => r.doing === 'disabled').length > 1 && (
          <Anchor component={Link} to="/robots?doing=disabled" size="sm" data-testid="let-several-move">
            {t.letSeveral(all.filter((r) => r.doing === 'disabled').length)}
          </Anchor>
        )}
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

/** The one thing that a person does next for a robot; its page has the button for it, and what follows. */
function NextStep({ r }: { r: Robot }) {
  const t = useStageTexts();
  const words = useWayOutTexts();
  const step = wayOut(r)[0];
  if (!step) return null;
  const key = step.key === 'continue' && !step.token.startsWith('operator') ? 'resume' : step.key;
  const fixed = words.steps[key as keyof typeof words.steps] as unknown;
  const own: Record<string, string> = { repair: t.repair, failing: t.failing, endsByItself: t.byItself };
  const todo = words.todo[key] ?? own[key] ?? (typeof fixed === 'string' ? fixed : '');
  if (!todo) return null;
  return (
    <Text size="sm" dir="auto">
      {t.step}:{' '}
      <Anchor component={Link} to={`/robots/${encodeURIComponent(r.id)}`}>
        {todo}
      </Anchor>
    </Text>
  );
}

/** A function that says in one line what a robot says about its state. */
export function useWhyOf(): (r: Robot) => string {
  const about = useAbout();
  const alerts = useAlertWords();
  const named = useNamesIn();
  return (r) => {
    if (r.presence.status !== 'online') return presenceText(r.presence);
    const of = about(performing(r).of);
    const first = r.alerts[0];
    const alert = first && alertSays(alerts, { ...named(first), hint: undefined });
    return [of, alert !== of && alert].filter(Boolean).join(', ');
  };
}

/** A function that says what the robot itself says of it, where useWhyOf says it in the words of another language. */
export function useOwnOf(): (r: Robot) => string {
  const alerts = useAlertWords();
  return (r) => {
    if (r.presence.status !== 'online') return ownPresence(r.presence);
    const of = performing(r).of;
    const meant = typeof of === 'object' && 'alert' in of ? [of.alert] : [];
    const own = [...meant, ...r.alerts.slice(0, 1)].map((a) => ownBeside(alerts, { ...a, hint: undefined }));
    return [...new Set(own)].filter(Boolean).join('; ');
  };
}
