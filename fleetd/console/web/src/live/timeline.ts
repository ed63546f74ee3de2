import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';

import { api, data, type Robot, type Schemas } from '../api/client';
import { toBeat } from './beats';
import { actMS, changesOf, following, type Shown } from './drawnFrom';
import { type Cue, cuesOfBars, performedAt } from './performed';
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

/** Where a robot is in its story. */
export interface Acting {
  /** ms since the act began, without pauses. */
  ms?: number;
  span?: Schemas['ScoreActSpan'];
  /** The act that follows. */
  next?: Schemas['ScoreActSpan'];
  of: number;
  timeline?: Schemas['Timeline'];
}

/** Where a robot is in its story, from when its act began and the timeline of the story. */
export function useActing(r: Robot): Acting {
  const story = r.act ? r.story : undefined;
  const timeline = useTimeline(story && { id: story.id, rev: story.rev }).data;
  const acts = timeline?.acts ?? [];
  const place = acts.findIndex((a) => a.step === (r.act_index ?? 0) && a.act === r.act);
  const isLast = place >= 0 && place === acts.length - 1;
  const loops = useLoops(isLast && story ? { id: story.id, rev: story.rev } : undefined);
  return {
    ms: actMS(r, fleetdNow()),
    span: acts[place],
    next: r.doing === 'story_ended' ? undefined : following(acts, place, loops),
    of: acts.length,
    timeline,
  };
}

/** What a timeline shows, and when that may change. Robots that perform the same story have the same timeline. */
const played = new WeakMap<object, { cues: Cue[]; changes: number[] }>();

function playedOf(timeline: Schemas['Timeline']) {
  let p = played.get(timeline);
  if (!p) {
    const lanes = timeline.lanes ?? [];
    p = { cues: cuesOfBars(lanes), changes: changesOf(lanes) };
    played.set(timeline, p);
  }
  return p;
}

/**
 * What the timeline of its story has a robot show now. It is computed again only when the timeline has the next change,
 * and only while somebody looks; as long as it is alike, it is the same object.
 */
export function useShown(r: Robot, { span, timeline }: Acting, looks: boolean): Shown | undefined {
  const [turn, again] = useState(0);
  const last = useRef<Shown>(undefined);
  const ms = actMS(r, fleetdNow());
  const at = span && ms !== undefined ? Math.min(span.start_ms + ms, span.end_ms) : undefined;
  const { cues, changes } = timeline && at !== undefined ? playedOf(timeline) : nothing;
  const change =
    looks && at !== undefined && r.auto === 'idle' && at < span!.end_ms ? changes.find((t) => t > at) : undefined;
  useEffect(() => {
    if (change === undefined || at === undefined) return;
    const timer = setTimeout(() => again((n) => n + 1), toBeat(Math.max(change - at, 50)));
    return () => clearTimeout(timer);
    // A timer may come some ms early: the change is still the same then, and needs another one.
  }, [r, change, turn]);
  const shown = at === undefined ? undefined : performedAt(cues, at, true);
  if (JSON.stringify(shown) !== JSON.stringify(last.current)) last.current = shown;
  return last.current;
}

const nothing = { cues: [], changes: [] };
