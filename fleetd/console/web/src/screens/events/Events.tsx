import { Stack } from '@mantine/core';

import { ScreenHead } from '../../shell/ScreenHead';
import { AlertList } from './AlertList';
import { EventTail } from './EventTail';
import { useEventsTexts } from './text';

/** Present problems of robots, and what happened to them. */
export default function Events() {
  const t = useEventsTexts();
  return (
    <Stack gap="xl">
      <ScreenHead title={t.title} />
      <AlertList />
      <EventTail />
    </Stack>
  );
}
