import { Anchor, Stack, Text, Title } from '@mantine/core';
import { Link } from 'react-router';

import { texts } from '../text/language';

const useTexts = texts(
  { title: 'There is no such page', back: 'To the robots' },
  { title: 'Diese Seite gibt es nicht', back: 'Zu den Robotern' },
);

export function NotFound() {
  const t = useTexts();
  return (
    <Stack>
      <Title order={1}>{t.title}</Title>
      <Text>
        <Anchor component={Link} to="/robots">
          {t.back}
        </Anchor>
      </Text>
    </Stack>
  );
}
