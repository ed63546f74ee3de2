import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';

import { api, data, type Robot, type Schemas } from '../api/client';
import { actMS, following, nextChange, type Shown } from './drawnFrom';
import { cuesOfBars, performedAt } from './performed';
import { fleetdNow } from './stream';

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

/** Whether a revision of a story begins again at its end, without an end. */
function useLoops(story: { id: string; rev: number } | undefined): boolean {
  const revision = useQuery({
    queryKey: ['story repeats', story?.id, story?.rev],
    enabled: !!story,
    staleTime: Infinity,
    queryFn: async () => {
      const path = { id: story!.id, rev: story!.rev };
      const published = await data(api.GET('/api/v1/stories/{id}/revisions/{rev}', { params: { path } }));
      return (published as { story?: { repeat?: unknown } }).story?.repeat === 'loop';
    },
  });
  return revision.data ?? false;
}

/** Where a robot is in its story, and what it shows there. */
export interface Acting {
  /** ms since the act began, without pauses. */
  ms?: number;
  span?: Schemas['ScoreActSpan'];
  /** The act that follows. */
  next?: Schemas['ScoreActSpan'];
  of: number;
  shown?: Shown;
}

/**
 * Where a robot is in its story, from when its act began and the timeline of the story. It is computed again only
 * when the timeline has the next change, so that nothing runs while a robot shows the same.
 */
export function useActing(r: Robot): Acting {
  const story = r.act ? r.story : undefined;
  const timeline = useTimeline(story && { id: story.id, rev: story.rev }).data;
  const [turn, again] = useState(0);
  const acts = timeline?.acts ?? [];
  const place = acts.findIndex((a) => a.step === (r.act_index ?? 0) && a.act === r.act);
  const isLast = place >= 0 && place === acts.length - 1;
  const loops = useLoops(isLast && story ? { id: story.id, rev: story.rev } : undefined);
  const ms = actMS(r, fleetdNow());
  const span = acts[place];
  const lanes = timeline?.lanes ?? [];
  const cues = useMemo(() => cuesOfBars(timeline?.lanes ?? []), [timeline]);
  const at = span && ms !== undefined ? Math.min(span.start_ms + ms, span.end_ms) : undefined;
  const change = at !== undefined && r.auto === 'idle' && at < span!.end_ms ? nextChange(lanes, at) : undefined;
  useEffect(() => {
    if (change === undefined || at === undefined) return;
    const timer = setTimeout(() => again((n) => n + 1), Math.max(change - at, 50));
    return () => clearTimeout(timer);
    // A timer may come some ms early: the change is still the same then, and needs another one.
  }, [r, change, turn]);
  return {
    ms,
    span,
    next: r.doing === 'story_ended' ? undefined : following(acts, place, loops),
    of: acts.length,
    shown: at === undefined ? undefined : performedAt(cues, at, true),
  };
}
