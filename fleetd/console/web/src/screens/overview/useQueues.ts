import { useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';

import { robotsOf, useRollouts } from '../rollouts/api';
import { gives, queues, type Queued } from './coming';
import { rolloutsEvery } from './Next';

/** So many rollouts are read; a fleet with more has them on its page of rollouts. */
const mostOpen = 10;

const none: ReadonlyMap<string, readonly Queued[]> = new Map();

/** The rollouts that each robot waits for; only while robots are drawn one by one. */
export function useQueues(drawn: boolean): ReadonlyMap<string, readonly Queued[]> {
  const listed = useRollouts({}, rolloutsEvery).data?.rollouts;
  // The list begins with the newest, and the oldest comes first.
  const open = useMemo(
    () =>
      drawn
        ? (listed ?? [])
            .filter((r) => gives(r.state))
            .slice(-mostOpen)
            .reverse()
        : [],
    [drawn, listed],
  );
  const robots = useQueries({
    queries: open.map((r) => robotsOf(r.id, rolloutsEvery)),
    combine: (all) => all.map((one) => one.data?.robots),
  });
  return useMemo(
    () => (open.length === 0 ? none : queues(open.map((r, i) => ({ ...r, robots: robots[i] ?? [] })))),
    [open, robots],
  );
}
