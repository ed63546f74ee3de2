import { Alert, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';

import { texts } from '../../text/language';
import { dateTime } from '../../text/time';
import { Nothing, Panel } from './Panel';
import { usePage } from './page';

const useTexts = texts(
  { title: 'Alerts', none: 'No alerts.', hint: 'What to do' },
  { title: 'Alarme', none: 'Keine Alarme.', hint: 'Was zu tun ist' },
);

const color: Record<string, string> = { info: 'blue', warn: 'yellow', error: 'orange', critical: 'red' };

/** The present problems that the robot reports, each with what to do. */
export function Alerts() {
  const t = useTexts();
  const { robot } = usePage();
  return (
    <Panel title={`${t.title} (${robot.alerts.length})`}>
      {robot.alerts.length === 0 && <Nothing>{t.none}</Nothing>}
      {robot.alerts.map((a) => (
        <Alert
          key={a.id}
          color={color[a.level] ?? 'gray'}
          p="xs"
          icon={<IconAlertTriangle aria-hidden />}
          title={`${a.level}: ${a.type.replaceAll('_', ' ')}, ${a.source}`}
        >
          <Stack gap={2}>
            <Text size="sm" dir="auto">
              {a.detail}
            </Text>
            {a.hint && (
              <Text size="sm" dir="auto">
                <Text span fw={600}>
                  {t.hint}:{' '}
                </Text>
                {a.hint}
              </Text>
            )}
            <Text size="xs">{dateTime(a.first_ts)}</Text>
          </Stack>
        </Alert>
      ))}
    </Panel>
  );
}
