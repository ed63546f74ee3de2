import { Alert, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';

import { performing } from '../../live/performing';
import { useTermWords } from '../../text/terms';
import { texts } from '../../text/language';
import { dateTime } from '../../text/time';
import { Nothing, Panel } from './Panel';
import { usePage } from './page';

const useTexts = texts(
  {
    title: 'Alerts',
    none: 'It reports no problem.',
    stopped: 'It reports no problem of its own: what keeps it from performing is said above.',
    hint: 'What to do',
    since: 'since',
  },
  {
    title: 'Alarme',
    none: 'Er meldet keine Störung.',
    stopped: 'Er meldet keine eigene Störung: was ihn am Auftreten hindert, steht oben.',
    hint: 'Was zu tun ist',
    since: 'seit',
  },
);

const color: Record<string, string> = { info: 'blue', warn: 'yellow', error: 'orange', critical: 'red' };

/** The present problems that the robot reports, each with what to do. */
export function Alerts() {
  const t = useTexts();
  const { AlertLevel: levels } = useTermWords();
  const { robot } = usePage();
  return (
    <Panel title={robot.alerts.length ? `${t.title} (${robot.alerts.length})` : t.title}>
      {robot.alerts.length === 0 && <Nothing>{performing(robot).tone === 'good' ? t.none : t.stopped}</Nothing>}
      {robot.alerts.map((a) => (
        <Alert
          key={a.id}
          color={color[a.level] ?? 'gray'}
          p="xs"
          icon={<IconAlertTriangle aria-hidden />}
          title={`${levels[a.level as keyof typeof levels] ?? a.level}: ${a.detail}`}
        >
          <Stack gap={2}>
            {a.hint && (
              <Text size="sm" dir="auto">
                <Text span fw={600}>
                  {t.hint}:{' '}
                </Text>
                {a.hint}
              </Text>
            )}
            <Text size="xs" c="dimmed">
              {t.since} {dateTime(a.first_ts)} · {a.type}, {a.source}
            </Text>
          </Stack>
        </Alert>
      ))}
    </Panel>
  );
}
