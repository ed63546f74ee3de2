import { Stack } from '@mantine/core';

import { Alerts } from './Alerts';
import { Answers } from './Answers';
import { Body } from './Body';
import { Interrupts } from './Interrupts';
import { Life } from './Life';
import { Performance } from './Performance';
import { Safety } from './Safety';

/** What the robot does now, and everything that bears on it. */
export default function Now() {
  return (
    <div className="now">
      <Stack>
        <Alerts />
        <Performance />
        <Interrupts />
        <Answers />
      </Stack>
      <Stack>
        <Safety />
        <Body />
      </Stack>
      <Life />
    </div>
  );
}
