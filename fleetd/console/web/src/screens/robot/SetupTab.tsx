import { Stack } from '@mantine/core';

import { Why } from '../policies/Why';
import { DesiredModePanel } from './DesiredMode';
import { ModeParams } from './ModeParams';
import { Settings } from './Settings';

/** What the fleet keeps for the robot, and why: its mode after start-up, its settings; and parameters of modes. */
export default function SetupTab() {
  return (
    <Stack>
      <Why />
      <DesiredModePanel />
      <ModeParams />
      <Settings />
    </Stack>
  );
}
