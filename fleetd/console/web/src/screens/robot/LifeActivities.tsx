import { Badge, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { api, data } from '../../api/client';
import { problemOf } from '../../api/problem';
import { texts } from '../../text/language';
import { ActionButton, useWhyNot } from './ActionButton';
import { Nothing } from './Panel';
import { usePage } from './page';
import { useRobotTexts } from './text';

const useTexts = texts(
  {
    title: 'Activities, and why each does not start now',
    none: 'No activities are assigned to this robot.',
    focused: 'in focus',
    ready: 'may start now',
    waits: 'does not start',
    lacks: 'the body lacks something for it',
    start: 'Start',
    startLabel: (activity: string) => `activity ${activity}`,
    isFocused: 'it has the focus',
  },
  {
    title: 'Aktivitäten, und warum jede jetzt nicht beginnt',
    none: 'Diesem Roboter sind keine Aktivitäten zugewiesen.',
    focused: 'im Mittelpunkt',
    ready: 'kann jetzt beginnen',
    waits: 'beginnt nicht',
    lacks: 'dem Körper fehlt dafür etwas',
    start: 'Beginnen',
    startLabel: (activity: string) => `Aktivität ${activity}`,
    isFocused: 'sie steht im Mittelpunkt',
  },
  {
    title: 'Activités, et pourquoi chacune ne commence pas maintenant',
    none: 'Aucune activité n’est attribuée à ce robot.',
    focused: 'au premier plan',
    ready: 'peut commencer maintenant',
    waits: 'ne commence pas',
    lacks: 'il manque quelque chose au corps pour elle',
    start: 'Démarrer',
    startLabel: (activity) => `activité ${activity}`,
    isFocused: 'elle est au premier plan',
  },
);

/** The activities that are assigned to the robot, each with why it does not start now. */
export function LifeActivities() {
  const t = useTexts();
  const common = useRobotTexts();
  const { id } = usePage();
  const whyNot = useWhyNot();
  const list = useQuery({
    queryKey: ['activities of', id],
    queryFn: () => data(api.GET('/api/v1/robots/{id}/activities', { params: { path: { id } } })),
    refetchInterval: 3000,
  });
  return (
    <Stack gap={8}>
      <Text size="sm" fw={500}>
        {t.title}
      </Text>
      {list.isPending && <Nothing>{common.loading}</Nothing>}
      {list.isError && <Text size="sm">{problemOf(list.error).message}</Text>}
      {list.data?.activities.length === 0 && <Nothing>{t.none}</Nothing>}
      {list.data?.activities.map((a) => (
        <Group key={a.id} justify="space-between" align="flex-start" wrap="nowrap" gap="xs">
          <Stack gap={0} style={{ minWidth: 0 }}>
            <Group gap={6}>
              <Text size="sm" fw={500} dir="auto">
                {a.id}
              </Text>
              <Badge variant="light" tt="none" color={a.focused ? 'green' : a.why ? 'gray' : 'blue'}>
                {a.focused ? t.focused : a.why ? t.waits : t.ready}
              </Badge>
              <Text size="xs" c="dimmed">
                {a.nature}, {a.rev}
              </Text>
            </Group>
            {a.why && (
              <Text size="sm" dir="auto" style={{ overflowWrap: 'anywhere' }}>
                {a.why}
              </Text>
            )}
            {a.fit.length > 0 && (
              <Text size="sm" dir="auto">
                {t.lacks}: {a.fit[0]!.detail}
              </Text>
            )}
          </Stack>
          <ActionButton
            size="compact-md"
            whyNot={whyNot || (a.focused ? t.isFocused : '')}
            label={`${t.start}: ${a.id}`}
            sends={['life/focus', { activity: a.id }, t.startLabel(a.id)]}
          >
            {t.start}
          </ActionButton>
        </Group>
      ))}
    </Stack>
  );
}
