import { Alert, Button, Checkbox, Group, Skeleton, Stack, Text, Title, Tooltip } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useMemo, useState } from 'react';

import { useMay } from '../../api/me';
import { type RobotAlert, useAlerts } from '../../live/alerts';
import { alertColor, AlertSubject, AlertText, useAlertName, useAlertTitle } from '../../live/AlertText';
import { dateTime } from '../../text/time';
import { Refused } from '../../shell/Refused';
import { useRobotsOfSite, useScope } from '../../shell/scope';
import { AckDialog } from './AckDialog';
import { useEventsTexts } from './text';

/** The alerts of the robots of the chosen site, the worst first, with who has acknowledged each. */
export function AlertList() {
  const t = useEventsTexts();
  const [name, title] = [useAlertName(), useAlertTitle()];
  const may = useMay('command');
  const [onlyUnacknowledged, setOnlyUnacknowledged] = useState(false);
  const [open, setOpen] = useState<RobotAlert>();
  const list = useAlerts(2000);
  const site = useScope((s) => s.site);
  const robots = useRobotsOfSite();
  const ofSite = useMemo(() => new Set(robots.map((r) => r.id)), [robots]);
  const all = (list.data?.alerts ?? []).filter((a) => !site || !a.robot || ofSite.has(a.robot));
  const shown = onlyUnacknowledged ? all.filter((a) => !a.acknowledged) : all;
  return (
    <Stack component="section" aria-labelledby="alerts-title" gap="sm">
      <Group justify="space-between">
        <Title order={2} size="h4" id="alerts-title">
          {all.length > 0 ? t.alertsOf(all.filter((a) => !a.acknowledged).length, all.length) : t.alerts}
        </Title>
        <Checkbox
          label={t.onlyUnacknowledged}
          checked={onlyUnacknowledged}
          onChange={(e) => setOnlyUnacknowledged(e.currentTarget.checked)}
        />
      </Group>
      <Text size="sm" c="dimmed">
        {t.alertsHelp}
      </Text>
      {list.isPending && <Skeleton h={60} aria-label={t.loading} role="status" />}
      {list.isError && <Refused error={list.error} onRetry={() => void list.refetch()} />}
      {list.isSuccess && shown.length === 0 && <Text role="status">{t.noAlerts}</Text>}
      {shown.slice(0, 200).map((a) => (
        <Alert
          key={`${a.robot} ${a.id} ${a.first_ts}`}
          variant={a.acknowledged ? 'outline' : 'light'}
          color={alertColor[a.level] ?? 'gray'}
          icon={<IconAlertTriangle aria-hidden />}
          p="xs"
        >
          <Group justify="space-between" align="flex-start" className="beside">
            <Stack gap={2}>
              <Text size="sm" fw={500} dir="auto">
                <AlertSubject of={a} />
                {': '}
                {name(a)}
              </Text>
              <AlertText of={a} />
              {a.acknowledged && (
                <Text size="sm" dir="auto" data-testid="acknowledged">
                  {t.by(a.acknowledged.by || t.somebody, dateTime(a.acknowledged.at))}: {a.acknowledged.note}
                </Text>
              )}
            </Stack>
            <Tooltip label={t.notMay} disabled={may}>
              <Button
                size="compact-md"
                flex="none"
                variant="default"
                data-disabled={!may || undefined}
                aria-disabled={!may}
                aria-label={t.acknowledgeOne(title(a.type), a.robot || a.rollout || a.schedule || a.id)}
                onClick={() => may && setOpen(a)}
              >
                {t.acknowledge}
              </Button>
            </Tooltip>
          </Group>
        </Alert>
      ))}
      {open && <AckDialog alert={open} onClose={() => setOpen(undefined)} />}
    </Stack>
  );
}
