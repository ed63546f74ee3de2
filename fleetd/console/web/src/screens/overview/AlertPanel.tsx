import { Anchor, Button, Group, Skeleton, Stack, Text, Tooltip } from '@mantine/core';
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react';
import { memo, useState } from 'react';
import { Link } from 'react-router';

import { useMay } from '../../api/me';
import { problemOf } from '../../api/problem';
import { useNamesIn } from '../../live/entries';
import { type RobotAlert, useAlerts } from '../../live/alerts';
import { alertColor, AlertSubject, useAlertName, useAlertTitle } from '../../live/AlertText';
import { OwnSentence } from '../../live/OwnSentence';
import { alertSays, ownBeside, useAlertWords } from '../../text/alerts';
import { clock } from '../../text/time';
import { AckDialog } from '../events/AckDialog';
import { useEventsTexts } from '../events/text';
import { refreshMs, maxRows, Panel } from './Panels';
import { useOverviewTexts } from './text';

/** The alerts of these robots, and of rollouts and schedules, which have no robot; those first that nobody has acknowledged. With `show` they have no buttons. */
export const AlertPanel = memo(function AlertPanel({ ids, show }: { ids?: Set<string>; show?: boolean }) {
  const t = useOverviewTexts();
  const words = useEventsTexts();
  const [name, title] = [useAlertName(), useAlertTitle()];
  const alerts = useAlertWords();
  const named = useNamesIn();
  const may = useMay('command');
  const [open, setOpen] = useState<RobotAlert>();
  const list = useAlerts(refreshMs);
  const all = (list.data?.alerts ?? [])
    .filter((a) => !ids || !a.robot || ids.has(a.robot))
    .sort((a, b) => Number(!!a.acknowledged) - Number(!!b.acknowledged));
  const unacknowledged = all.filter((a) => !a.acknowledged).length;
  return (
    <Panel title={t.alertsTitle}>
      {list.isPending && <Skeleton h={24} aria-label={t.loading} role="status" />}
      {list.isError && (
        <Text size="sm" role="alert">
          {t.alertsFailed}: {problemOf(list.error).message}
        </Text>
      )}
      {list.isSuccess && (
        <Text size="sm" c="dimmed" mb={6}>
          {all.length === 0
            ? t.noAlerts
            : unacknowledged > 0
              ? t.nobodyAcknowledged(unacknowledged)
              : t.allAcknowledged}
        </Text>
      )}
      <Stack gap={8}>
        {all.slice(0, maxRows).map((a) => (
          <Group key={`${a.robot} ${a.id} ${a.first_ts}`} gap="xs" align="flex-start">
            <IconAlertTriangle
              size={14}
              color={`var(--mantine-color-${alertColor[a.level] ?? 'gray'}-6)`}
              style={{ flexShrink: 0, marginTop: 3 }}
              aria-hidden
            />
            <Stack gap={0} flex="1 1 200px" miw={0}>
              <Text size="sm" fw={500}>
                <AlertSubject of={a} /> {name(a)}
              </Text>
              <Text size="sm" dir="auto" className="any-text">
                {alertSays(alerts, { ...named(a), hint: undefined })}
              </Text>
              <OwnSentence>{ownBeside(alerts, { ...a, hint: undefined })}</OwnSentence>
              {a.acknowledged && (
                <Text size="xs" c="dimmed" dir="auto" data-testid="acknowledged" style={{ overflowWrap: 'anywhere' }}>
                  <IconCheck size={12} aria-hidden />{' '}
                  {words.by(a.acknowledged.by || words.somebody, clock(a.acknowledged.at))}: {a.acknowledged.note}
                </Text>
              )}
            </Stack>
            {!show && !a.acknowledged && (
              <Tooltip label={words.notMay} disabled={may}>
                <Button
                  size="compact-sm"
                  variant="default"
                  style={{ flexShrink: 0 }}
                  data-disabled={!may || undefined}
                  aria-disabled={!may}
                  aria-label={words.acknowledgeOne(title(a.type), a.robot || a.rollout || a.schedule || a.id)}
                  onClick={() => may && setOpen(a)}
                >
                  {words.acknowledge}
                </Button>
              </Tooltip>
            )}
          </Group>
        ))}
        {all.length > maxRows && <Text size="sm">{t.more(all.length - maxRows)}</Text>}
        {!show && (
          <Anchor component={Link} to="/events" size="sm">
            {t.allAlerts}
          </Anchor>
        )}
      </Stack>
      {open && <AckDialog alert={open} onClose={() => setOpen(undefined)} />}
    </Panel>
  );
});
