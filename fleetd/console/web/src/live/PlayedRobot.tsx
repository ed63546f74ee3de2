import { useInViewport } from '@mantine/hooks';
import { useMemo } from 'react';

import type { Detail, Robot } from '../api/client';
import { drawnOf } from './drawnFrom';
import { DrawnRobot } from './DrawnRobot';
import { fullName } from './RobotName';
import { type Acting, useShown } from './timeline';

interface Props {
  robot: Robot;
  acting: Acting;
  caps?: Detail['caps'];
  state?: Detail['state'];
}

/**
 * A drawn robot with what its story has it show now. Only the picture is drawn again when the timeline has something
 * else, not what stands beside it, and nothing while it is out of sight.
 */
export function PlayedRobot({ robot, acting, caps, state }: Props) {
  const { ref, inViewport } = useInViewport<HTMLDivElement>();
  const shown = useShown(robot, acting, inViewport);
  const drawn = useMemo(() => drawnOf(robot, { caps, state, shown }), [robot, caps, state, shown]);
  return (
    <div ref={ref}>
      <DrawnRobot of={drawn} name={fullName(robot)} still={!inViewport} />
    </div>
  );
}
