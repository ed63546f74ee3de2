import { Stack, Title } from '@mantine/core';

import { AlertList } from './AlertList';
import { EventTail } from './EventTail';
import { useEventsTexts } from './text';

/** Present problems of robots, and what happened to them. */
export default function Events() {
  const t = useEventsTexts();
  return (
    <Stack gap="xl">
      <Title order={1} size="h2">
        {t.title}
      </Title>
      <AlertList />
      <EventTail />
    </Stack>
  );
}
