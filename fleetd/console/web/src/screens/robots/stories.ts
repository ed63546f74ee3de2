import { useQuery } from '@tanstack/react-query';

import { api, data } from '../../api/client';

const none: ReadonlyMap<string, number> = new Map();

/** How many acts a story has; undefined while that is not known. */
export function useActs(story: string | undefined): number | undefined {
  const acts = useQuery({
    queryKey: ['stories', 'acts'],
    queryFn: async () => {
      const list = await data(api.GET('/api/v1/stories'));
      return new Map(list.entries.flatMap((e) => (e.steps ? [[e.id, e.steps] as const] : [])));
    },
    staleTime: 60_000,
  });
  return story ? (acts.data ?? none).get(story) : undefined;
}
