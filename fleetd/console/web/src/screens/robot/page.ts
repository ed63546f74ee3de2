import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect, useState } from 'react';

import { api, data, type Detail, type Robot, type Schemas } from '../../api/client';
import { robots, useRobot } from '../../live/robots';
import { fleetdNow, useLive, type Connection } from '../../live/stream';
import { stopperOf } from './stopper';
import { reachable } from './wayOut';

export type State = Schemas['SchemaState'];

/** Why what is shown of a robot may be old; undefined if it is current. */
export type Stale = 'page' | 'broker' | 'robot' | undefined;

/** What the parts of the page of one robot share. */
export interface Page {
  id: string;
  /** The newest row of the stream, which also has what the documents say in short. */
  robot: Robot;
  /** The robot's documents; undefined until they were read. */
  detail?: Detail;
  stale: Stale;
}

export const PageContext = createContext<Page | undefined>(undefined);

/** What the page shows. Only for parts of the page of a robot. */
export function usePage(): Page {
  const page = useContext(PageContext);
  if (!page) throw new Error('this part is not on the page of a robot');
  return page;
}

/** ms within which changes of a robot cause one request, and after which its documents are read in any case. */
const gather = 300;
const atLeast = 2000;

/** The documents of a robot, read again after each change. */
export function useDetail(id: string) {
  const queries = useQueryClient();
  useEffect(() => {
    let timer: number | undefined;
    const stop = robots.subscribe(id, () => {
      timer ??= window.setTimeout(() => {
        timer = undefined;
        void queries.invalidateQueries({ queryKey: ['robot', id] });
      }, gather);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [id, queries]);
  return useQuery({
    queryKey: ['robot', id],
    queryFn: () => data(api.GET('/api/v1/robots/{id}', { params: { path: { id } } })),
    refetchInterval: atLeast,
  });
}

/** ms for which a robot that is online may be silent: heartbeats come every 10 s at rest, and are read every 2 s. */
const fresh = 15_000;

/** Whether it is worth saying when a robot was last seen: not while its heartbeats arrive. */
export function unheard({ status, last_seen }: Robot['presence'], now: number): boolean {
  return status !== 'online' || !last_seen || now - Date.parse(last_seen) > fresh;
}

/** Why what is known of a robot may be old. */
export function useStale(id: string): Stale {
  const connection = useLive((s) => s.connection);
  const broker = useLive((s) => s.fleetd?.broker.ok ?? true);
  return staleOf(useRobot(id), connection, broker);
}

/** Why what is shown of a robot may be old, the widest cause first. Before the first robots nothing is shown. */
export function staleOf(robot: Robot | undefined, connection: Connection, broker: boolean): Stale {
  if (connection === 'lost' || (robot && connection !== 'live')) return 'page';
  if (!broker) return 'broker';
  return robot && !reachable(robot) ? 'robot' : undefined;
}

/** fleetd's time, drawn again every so many ms. */
export function useFleetdNow(every = 1000): number {
  const [now, set] = useState(fleetdNow);
  useEffect(() => {
    const timer = window.setInterval(() => set(fleetdNow()), every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}

/** Events of one robot, the newest first, read again when it has a newer one. */
export function useEvents(id: string, filter: { type?: string; level?: string[]; limit?: number }, every = 3000) {
  const { type, level, limit = 20 } = filter;
  return useQuery({
    queryKey: ['events', id, type, level, limit],
    queryFn: async () => {
      const query = { robot: id, type, level: level?.length ? level : undefined, limit };
      const answer = await data(api.GET('/api/v1/events', { params: { query: query as never } }));
      return answer.events;
    },
    refetchInterval: every,
  });
}

/** Who or what stopped the robot of the page, and when; undefined if nothing says it. */
export function useStopper() {
  const { id, robot } = usePage();
  const events = useEvents(id, { level: ['safety'] }).data ?? [];
  return robot.cause === 'stopped' ? stopperOf(robot.latches, events) : undefined;
}
