import { Anchor, CloseButton, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { Link } from 'react-router';

import { useMe } from '../../api/me';
import { type Robot } from '../../api/client';
import { texts } from '../../text/language';

const useGreetingTexts = texts(
  {
    title: 'Welcome. Three things to try',
    stop: 'Stop a robot',
    stopHow: 'Open its page and press the red button. Then release it, and let it move again.',
    story: 'Give it another story',
    storyHow: 'Choose a story and the robots that perform it. They change after the act that they perform.',
    act: 'Write an act',
    actHow: 'Make one, drag what the robot does along the timeline, and press Play.',
    close: 'Hide this',
  },
  {
    title: 'Willkommen. Drei Dinge zum Ausprobieren',
    stop: 'Einen Roboter stoppen',
    stopHow:
      'Öffnen Sie seine Seite, und drücken Sie die rote Taste. Heben Sie den Stopp dann auf, und lassen Sie ihn sich wieder bewegen.',
    story: 'Ihm eine andere Geschichte geben',
    storyHow: 'Wählen Sie eine Geschichte und die Roboter, die sie aufführen. Sie wechseln nach ihrem jetzigen Akt.',
    act: 'Einen Akt schreiben',
    actHow: 'Legen Sie einen an, ziehen Sie auf der Zeitachse, was der Roboter tut, und drücken Sie Abspielen.',
    close: 'Ausblenden',
  },
  {
    title: 'Bienvenue. Trois choses à essayer',
    stop: 'Arrêter un robot',
    stopHow:
      'Ouvrez sa page et appuyez sur le bouton rouge. Levez ensuite l’arrêt, et autorisez de nouveau le mouvement.',
    story: 'Donner une autre histoire',
    storyHow: 'Choisissez une histoire et les robots qui la jouent. Ils changent après l’acte qu’ils jouent.',
    act: 'Écrire un acte',
    actHow: 'Créez-en un, glissez ce que fait le robot le long de la chronologie, et appuyez sur Lecture.',
    close: 'Cacher',
  },
);

/** What somebody who tries the project out could do first. It is shown in development mode, until it is hidden. */
export function Greeting({ fleet }: { fleet: readonly Robot[] }) {
  const t = useGreetingTexts();
  const me = useMe();
  const [hidden, hide] = useLocalStorage({ key: 'troupe.greeted', defaultValue: false });
  const robot = fleet.find((r) => r.doing === 'performing') ?? fleet[0];
  if (!me?.dev || hidden || !robot) return null;
  const things = [
    { to: `/robots/${encodeURIComponent(robot.id)}`, what: t.stop, how: t.stopHow },
    { to: '/assign', what: t.story, how: t.storyHow },
    { to: '/acts', what: t.act, how: t.actHow },
  ];
  return (
    <Paper withBorder p="md" component="section" aria-label={t.title}>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Title order={2} size="h4" fw={500}>
          {t.title}
        </Title>
        <CloseButton aria-label={t.close} onClick={() => hide(true)} />
      </Group>
      <Group align="flex-start" gap="xl" mt="xs">
        {things.map((thing, n) => (
          <Stack key={thing.to} gap={2} flex="1 1 14rem">
            <Anchor component={Link} to={thing.to}>
              {n + 1}. {thing.what}
            </Anchor>
            <Text size="sm" c="dimmed">
              {thing.how}
            </Text>
          </Stack>
        ))}
      </Group>
    </Paper>
  );
}
