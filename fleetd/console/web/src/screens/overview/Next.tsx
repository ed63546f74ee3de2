import { Anchor, Group, Stack, Text } from '@mantine/core';
import { Link } from 'react-router';

import { fleetdNow } from '../../live/stream';
import { useRollouts } from '../rollouts/api';
import { isOpen } from '../rollouts/states';
import { useSchedules } from '../schedules/api';
import { useActionText } from '../schedules/words';
import { Panel } from './Panels';
import { useStageTexts } from './stageText';
import { useWhen } from './useWhen';

/** So many things that come are shown. */
const most = 6;
/** ms between two looks at rollouts. */
export const rolloutsEvery = 10_000;

interface Coming {
  key: string;
  at: number;
  when: string;
  what: string;
  to: string;
}

/** What comes next, and when: rollouts that are open, and the next instant of each schedule. */
export function Next({ site }: { site: string }) {
  const t = useStageTexts();
  const actionText = useActionText();
  const schedules = useSchedules().data ?? [];
  const rollouts = useRollouts({}, rolloutsEvery).data?.rollouts ?? [];
  const when = useWhen();
  const coming: Coming[] = [
    ...rollouts
      .filter((r) => isOpen(r.state))
      .map((r) => {
        const done = (r.counts['CONFIRMED'] ?? 0) + (r.counts['UNCHANGED'] ?? 0);
        const name = r.name || r.id;
        return {
          key: `rollout ${r.id}`,
          at: r.not_before ? Date.parse(r.not_before) : 0,
          when: r.not_before && Date.parse(r.not_before) > fleetdNow() ? when(r.not_before) : t.nowAt,
          what: r.state === 'RUNNING' ? t.rollout(name, done, r.total) : t.rolloutWaits(name),
          to: `/rollouts/${encodeURIComponent(r.id)}`,
        };
      }),
    ...schedules
      .filter((s) => s.next_at && (!site || !s.site || s.site === site))
      .map((s) => ({
        key: `schedule ${s.id}`,
        at: Date.parse(s.next_at!),
        when: when(s.next_at!),
        what: `${s.id}: ${actionText(s.action)}`,
        to: `/schedules/${encodeURIComponent(s.id)}`,
      })),
  ].sort((a, b) => a.at - b.at);
  if (coming.length === 0) return null;
  return (
    <Panel title={t.next}>
      <Stack gap={4}>
        {coming.slice(0, most).map((c) => (
          <Group key={c.key} gap="sm" wrap="nowrap" align="baseline">
            <Text size="sm" c="dimmed" miw={52}>
              {c.when}
            </Text>
            <Anchor component={Link} to={c.to} size="sm" c="inherit" dir="auto">
              {c.what}
            </Anchor>
          </Group>
        ))}
      </Stack>
    </Panel>
  );
}
