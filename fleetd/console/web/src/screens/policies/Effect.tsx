import { Alert, Group, List, Stack, Text } from '@mantine/core';

import { useContentText } from '../rollouts/contentText';
import { RobotLinks } from '../rollouts/Failures';
import { usePlanTexts } from '../rollouts/planText';
import type { PolicyResult } from './api';
import { usePoliciesTexts } from './text';

/** Up to this many robots are named. */
const named = 20;

/** What saving or deleting a policy would do: counts, who changes, and which policies it meets. */
export function Effect({ of: r }: { of: PolicyResult }) {
  const t = usePoliciesTexts();
  const plans = usePlanTexts();
  const said = useContentText();
  return (
    <Stack gap="xs" data-testid="policy-dry-run">
      <List size="sm">
        <List.Item>{t.selects(r.total)}</List.Item>
        {!r.deleted && <List.Item>{t.decides(r.decides)}</List.Item>}
        {!r.deleted &&
          r.overlaps.map((o) => (
            <List.Item key={o.policy}>
              {(o.first ? t.overlapFirst : t.overlapAfter)(o.policy, o.place, o.robots)}
            </List.Item>
          ))}
        {r.pinned.length > 0 && <List.Item>{t.keeps(r.pinned.length)}</List.Item>}
        {r.left.length > 0 && <List.Item>{t.leaves(r.left.length)}</List.Item>}
        {r.misfits.map((m) => (
          <List.Item key={m.robots.join()}>
            <span dir="auto">{m.problems.map((p) => p.detail).join('; ')}</span> ({m.robots.slice(0, named).join(', ')})
          </List.Item>
        ))}
        <List.Item>
          <b>{r.updated.length > 0 ? t.changes(r.updated.length) : t.nobodyChanges}</b>
        </List.Item>
      </List>
      {r.ends.map((end) => (
        <Text key={end.rollout} size="sm" dir="auto" className="any-text">
          {(end.whole ? t.endsWhole : t.endsPart)(said(end.content), end.robots)}
        </Text>
      ))}
      {r.rollouts.map((o) => (
        <Text key={o.policy + o.content} size="sm" dir="auto" className="any-text">
          {[
            t.byRollout(said(o.content), o.robots, o.waves),
            o.refused > 0 && plans.wouldRefuse(o.refused),
            o.needs_approval && plans.approval,
          ]
            .filter(Boolean)
            .join('; ')}
        </Text>
      ))}
      {r.updated.length > 0 && (
        <Group gap="xs">
          <RobotLinks ids={r.updated.slice(0, named)} />
          {r.updated.length > named && <Text size="sm">… ({r.updated.length})</Text>}
        </Group>
      )}
      {r.warnings.map((w, n) => (
        <Alert key={n} color="yellow" p="xs" title={w.detail}>
          {w.hint}
        </Alert>
      ))}
    </Stack>
  );
}
