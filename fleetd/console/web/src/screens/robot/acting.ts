import { useQuery } from '@tanstack/react-query';

import { api, data } from '../../api/client';
import { elapsed } from './elapsed';
import { useEvents, useFleetdNow, usePage } from './page';

/** The timeline of a revision of a story, as fleetd estimates it. */
export function useTimeline(story?: { id: string; rev: number }) {
  return useQuery({
    queryKey: ['timeline', story?.id, story?.rev],
    enabled: !!story,
    staleTime: Infinity,
    queryFn: () =>
      data(
        api.GET('/api/v1/stories/{id}/timeline', {
          params: { path: { id: story!.id }, query: { rev: story!.rev } as never },
        }),
      ),
  });
}

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
