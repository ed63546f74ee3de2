import { Anchor, Button, Code, Group, Stack, Text } from '@mantine/core';
import { useRouteError } from 'react-router';

import { addressOf } from '../base';
import { ScreenHead } from '../shell/ScreenHead';
import { texts } from '../text/language';

const useTexts = texts(
  {
    title: 'This page failed',
    hint: 'It is a mistake of the console. Robots go on with what they do, and the stop above works. What you wrote last in a draft may not be saved.',
    again: 'Load again',
    overview: 'To the overview',
  },
  {
    title: 'Diese Seite ist gescheitert',
    hint: 'Das ist ein Fehler der Konsole. Die Roboter machen weiter, und der Stopp oben wirkt. Was zuletzt in einen Entwurf geschrieben wurde, ist vielleicht nicht gespeichert.',
    again: 'Neu laden',
    overview: 'Zur Übersicht',
  },
  {
    title: 'Cette page est tombée en panne',
    hint: 'C’est une erreur de la console. Les robots continuent ce qu’ils font, et l’arrêt en haut fonctionne. Ce que vous avez écrit en dernier dans un brouillon n’est peut-être pas enregistré.',
    again: 'Recharger',
    overview: 'Vers la vue d’ensemble',
  },
);

/** What is shown in place of a screen that threw an error. Both ways on reload the console. */
export function Failed() {
  const t = useTexts();
  const error = useRouteError();
  return (
    <Stack>
      <ScreenHead title={t.title} />
      <Text>{t.hint}</Text>
      <Code block dir="ltr">
        {error instanceof Error ? error.message : String(error)}
      </Code>
      <Group>
        <Button onClick={() => window.location.reload()}>{t.again}</Button>
        <Anchor href={addressOf('/')}>{t.overview}</Anchor>
      </Group>
    </Stack>
  );
}
