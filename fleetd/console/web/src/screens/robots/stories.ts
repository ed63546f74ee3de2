import { useQuery } from '@tanstack/react-query';

import { api, data, type Robot, type Schemas } from '../../api/client';

type Entry = Pick<Schemas['Entry'], 'id' | 'rev' | 'steps' | 'draft_changed'>;

const none: ReadonlyMap<string, number> = new Map();
const keyOf = (id: string, rev: number) => `${id} ${rev}`;

/** How many acts the newest revision of each story has. The list counts those of the draft: one that was changed says nothing. */
export const actsOf = (stories: readonly Entry[]): ReadonlyMap<string, number> =>
  new Map(
    stories.flatMap((e) => (e.steps && e.rev && !e.draft_changed ? [[keyOf(e.id, e.rev), e.steps] as const] : [])),
  );

/** How many acts the story of a robot has; undefined while that is not known, or if the revision is not the newest. */
export function useActs(story: Robot['story']): number | undefined {
  const acts = useQuery({
    queryKey: ['stories', 'acts'],
    queryFn: async () => actsOf((await data(api.GET('/api/v1/stories'))).entries),
    staleTime: 60_000,
  });
  return story ? (acts.data ?? none).get(keyOf(story.id, story.rev)) : undefined;
}
