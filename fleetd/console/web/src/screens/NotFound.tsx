import { Anchor, Stack, Text } from '@mantine/core';
import { Link } from 'react-router';

import { ScreenHead } from '../shell/ScreenHead';
import { texts } from '../text/language';

const useTexts = texts(
  { title: 'There is no such page', back: 'To the robots' },
  { title: 'Diese Seite gibt es nicht', back: 'Zu den Robotern' },
);

export function NotFound() {
  const t = useTexts();
  return (
    <Stack>
      <ScreenHead title={t.title} />
      <Text>
        <Anchor component={Link} to="/robots">
          {t.back}
        </Anchor>
      </Text>
    </Stack>
  );
}
