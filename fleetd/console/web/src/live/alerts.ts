import { useQuery } from '@tanstack/react-query';

import { api, data, type Robot, type Schemas } from '../api/client';

export type RobotAlert = Schemas['RobotAlert'];

/** The alerts of all robots with who has acknowledged each, read again after that many ms. */
export function useAlerts(every: number, enabled = true) {
  return useQuery({
    queryKey: ['alerts'],
    queryFn: () => data(api.GET('/api/v1/alerts')),
    refetchInterval: every,
    enabled,
  });
}

const keyOf = (robot: string, a: Pick<RobotAlert, 'id' | 'first_ts'>) => `${robot} ${a.id} ${a.first_ts}`;

/**
 * The robots with alerts that nobody has acknowledged, and those alerts. The robots are newer than
 * the list: an alert that the list lacks is one that nobody has acknowledged yet.
 */
export function unacknowledged(robots: readonly Pick<Robot, 'id' | 'alerts'>[], list: readonly RobotAlert[]) {
  const seen = new Set(list.filter((a) => a.acknowledged).map((a) => keyOf(a.robot, a)));
  return robots
    .map((r) => ({ id: r.id, alerts: r.alerts.filter((a) => !seen.has(keyOf(r.id, a))) }))
    .filter((r) => r.alerts.length > 0);
}
