import { Anchor, Code, Group, Stack, Text } from '@mantine/core';
import { Link, useLocation } from 'react-router';

import { ScreenHead } from '../shell/ScreenHead';
import { texts } from '../text/language';

const useTexts = texts(
  {
    title: 'There is no such page',
    address: 'No page of the console has this address:',
    hint: 'A link may be cut off, or be from another version. Ctrl-K searches for pages, robots and commands.',
    overview: 'To the overview',
    back: 'To the robots',
  },
  {
    title: 'Diese Seite gibt es nicht',
    address: 'Keine Seite der Konsole hat diese Adresse:',
    hint: 'Vielleicht ist ein Link abgeschnitten oder aus einer anderen Version. Strg-K sucht Seiten, Roboter und Befehle.',
    overview: 'Zur Übersicht',
    back: 'Zu den Robotern',
  },
  {
    title: 'Cette page n’existe pas',
    address: 'Aucune page de la console n’a cette adresse :',
    hint: 'Un lien peut être coupé, ou venir d’une autre version. Ctrl-K cherche des pages, des robots et des commandes.',
    overview: 'Vers la vue d’ensemble',
    back: 'Vers les robots',
  },
);

export function NotFound() {
  const t = useTexts();
  const { pathname } = useLocation();
  return (
    <Stack>
      <ScreenHead title={t.title} />
      <Text className="any-text">
        {t.address} <Code dir="ltr">{pathname}</Code>
      </Text>
      <Text size="sm" c="dimmed">
        {t.hint}
      </Text>
      <Group>
        <Anchor component={Link} to="/">
          {t.overview}
        </Anchor>
        <Anchor component={Link} to="/robots">
          {t.back}
        </Anchor>
      </Group>
    </Stack>
  );
}
