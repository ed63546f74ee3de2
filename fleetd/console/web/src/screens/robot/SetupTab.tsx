import { Stack } from '@mantine/core';

import { DesiredModePanel } from './DesiredMode';
import { ModeParams } from './ModeParams';
import { Settings } from './Settings';

/** What the fleet keeps for the robot: its mode after start-up, its settings; and parameters of modes. */
export default function SetupTab() {
  return (
    <Stack>
      <DesiredModePanel />
      <ModeParams />
      <Settings />
    </Stack>
  );
}
