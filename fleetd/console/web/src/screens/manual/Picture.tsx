import { Card } from '@mantine/core';

import { drawnOf } from '../../live/drawnFrom';
import { DrawnRobot } from '../../live/DrawnRobot';
import { fullName } from '../../live/RobotName';
import { usePage } from '../robot/page';
import { useDriving } from './drive';

/** The robot as it is, so that what a button did is seen. It is drawn again when the way changes, not its speed. */
export function Picture() {
  const { robot, detail } = usePage();
  const forward = useDriving((s) => Math.sign(s.figures?.vx ?? 0));
  const left = useDriving((s) => Math.sign(s.figures?.wz ?? 0));
  const d = drawnOf(robot, { caps: detail?.caps, state: detail?.state });
  const of = forward || left ? { ...d, drive: { forward, left } } : d;
  return (
    <Card withBorder padding="sm">
      <div className="manual-picture">
        <DrawnRobot of={of} name={fullName(robot)} />
      </div>
    </Card>
  );
}
