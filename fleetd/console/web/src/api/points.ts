import { keepPreviousData, useQuery } from '@tanstack/react-query';

import { api, data, type Schemas } from './client';

export type Point = Schemas['RobotPoint'];

/**
 * The points of a robot, with where they are if fleetd knows it. version changes when they may have
 * changed; the old ones are shown until the new ones have come.
 */
export function usePoints(id: string, version = '') {
  return useQuery({
    queryKey: ['points', id, version],
    enabled: id !== '',
    queryFn: () => data(api.GET('/api/v1/robots/{id}/points', { params: { path: { id } } })),
    placeholderData: (old, was) => (was?.queryKey[1] === id ? keepPreviousData(old) : undefined),
  });
}
