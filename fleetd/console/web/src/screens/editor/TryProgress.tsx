import { Progress, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';

import { duration } from '../../text/time';
import { useNameOf } from '../library/api';
import { actAt, type Trial } from './tryProgress';
import { useTryTexts } from './tryText';

/** ms between two positions of the bar. */
const step = 250;

/** How far the robot is since it began, by the estimated length of what it performs. */
export function TryProgress({ trial, began }: { trial?: Trial; began: number }) {
  const t = useTryTexts();
  const nameOf = useNameOf('act');
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), step);
    return () => clearInterval(timer);
  }, []);
  const ms = Math.max(0, now - began);
  const length = trial?.length ?? 0;
  const n = trial ? actAt(trial, ms) : -1;
  const at =
    length === 0
      ? t.atOnly(duration(ms))
      : ms > length + 1000
        ? t.longer(duration(ms), duration(length))
        : t.at(duration(ms), duration(length));
  return (
    <Stack gap={4}>
      <Progress
        size="lg"
        value={length === 0 ? 100 : Math.min(100, (ms / length) * 100)}
        animated={length === 0}
        transitionDuration={step}
        aria-label={t.progress}
        aria-valuetext={at}
      />
      <Text size="sm" data-testid="try-progress">
        {[at, n >= 0 && t.act(n + 1, trial!.acts.length, nameOf(trial!.acts[n]!.act))].filter(Boolean).join('; ')}
      </Text>
    </Stack>
  );
}
