import { useTimeline } from '../../live/timeline';
import { elapsed } from './elapsed';
import { useEvents, useFleetdNow, usePage } from './page';

/** Where the robot is in its story: ms since the act began, the act's span in the timeline, the whole timeline. */
export function useActing() {
  const { id, robot, stale } = usePage();
  const now = useFleetdNow(500);
  const timeline = useTimeline(robot.story);
  const events = useEvents(id, { limit: 60 }).data ?? [];
  const spans = timeline.data?.acts ?? [];
  const span = spans.find((a) => a.step === robot.act_index) ?? spans.find((a) => a.act === robot.act);
  const known = robot.act && !stale && (robot.auto === 'idle' || robot.auto === 'paused');
  return { timeline, spans, span, ms: known ? elapsed(events, robot.auto === 'paused', now, robot.act) : undefined };
}
