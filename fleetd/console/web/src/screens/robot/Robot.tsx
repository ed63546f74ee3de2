import { Group, Stack, Text, Title } from '@mantine/core';
import { useParams } from 'react-router';

import { PerformingBadge } from '../../live/PerformingBadge';
import { useRobot } from '../../live/robots';
import { texts } from '../../text/language';

const useTexts = texts(
  { unknown: (id: string) => `fleetd knows no robot ${id}` },
  { unknown: (id: string) => `fleetd kennt keinen Roboter ${id}` },
);

/** Everything about one robot. */
export default function Robot() {
  const t = useTexts();
  const { id = '' } = useParams();
  const robot = useRobot(id);
  if (!robot) return <Text>{t.unknown(id)}</Text>;
  return (
    <Stack>
      <Group>
        <Title order={1} size="h2">
          {robot.id}
        </Title>
        <PerformingBadge robot={robot} terms />
      </Group>
    </Stack>
  );
}
