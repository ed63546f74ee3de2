import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';

import { api, data, type Robot } from '../../api/client';
import { useRobots } from '../../live/robots';
import { changing, type Outcome, type Report, reportOf, type Step, stepOf, type What } from './model';

/** Kinds whose reports are not part of the live summary, and their documents. */
const topics = { mode: 'desired_mode', settings: 'desired_config', places: 'desired_places' } as const;
/** Up to this many robots are asked for in one request. */
const chunk = 500;

export interface Follow {
  robot: string;
  row?: Robot;
  report?: Report;
  step: Step;
}

/** How far the robots of an assignment are, live. */
export function useReports(what: What, outcome: Outcome): { all: Follow[]; failed: Error | null } {
  const fleet = useRobots();
  const rows = new Map(fleet.map((r) => [r.id, r]));
  const lines = changing(outcome);
  const ids = lines.map((l) => l.robot);
  const document = what.kind !== 'back' ? what.kind : what.of === 'config' ? 'settings' : what.of;
  const topic = document && document in topics ? topics[document as keyof typeof topics] : undefined;
  // An answer from before the assignment would count as its first report.
  const [since] = useState(Date.now);
  const asked = useQuery({
    queryKey: ['reports', topic, since],
    enabled: !!topic && ids.length > 0,
    gcTime: 0,
    refetchInterval: (q) => (q.state.data?.some((p) => p.outcome === 'undecided') === false ? 5000 : 1000),
    queryFn: async () => {
      const out = [];
      for (let at = 0; at < ids.length; at += chunk) {
        const query = { topic: topic!, id: ids.slice(at, at + chunk) };
        out.push(...(await data(api.GET('/api/v1/desired', { params: { query } }))).robots);
      }
      return out;
    },
  });
  const reports = new Map((asked.data ?? []).map((p) => [p.robot, p]));
  // What each robot was asked to have when it was first seen with this assignment: something
  // else later means that somebody assigned again.
  const mine = useRef(new Map<string, string>());
  const all = lines.map((l): Follow => {
    const row = rows.get(l.robot);
    const p = reports.get(l.robot);
    const report = topic
      ? p && {
          requested: String(p.desired_rev),
          phase: p.phase ?? '',
          outcome: p.outcome,
          detail: p.detail ?? '',
        }
      : row && reportOf(what.kind, row);
    const first = mine.current.get(l.robot);
    // A live summary may be older than the assignment for a moment.
    const arrived = report && (topic || report.requested === l.then);
    if (arrived && first === undefined) mine.current.set(l.robot, report.requested);
    const replaced = first !== undefined && report !== undefined && report.requested !== first;
    return { robot: l.robot, row, report, step: stepOf(arrived ? report : undefined, replaced, row) };
  });
  return { all, failed: asked.error };
}
