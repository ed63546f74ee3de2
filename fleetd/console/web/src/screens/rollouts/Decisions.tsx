import { Anchor, Card, Group, List, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';

import { api, data } from '../../api/client';
import { useMay } from '../../api/me';
import { Refused } from '../../shell/Refused';
import { dateTime } from '../../text/time';
import { useWhat } from '../audit/what';
import type { Detail } from './types';
import { useRolloutsTexts } from './text';
import { useWhyText } from './whyText';

/** Who decided what about a rollout, and why, from the audit. */
export function Decisions({ of: d }: { of: Detail }) {
  const t = useRolloutsTexts();
  const because = useWhyText();
  const may = useMay('audit');
  const what = useWhat();
  const query = { target: d.id, limit: 50 };
  const list = useQuery({
    queryKey: ['rollouts', 'audit', d.id, d.state, d.wave],
    queryFn: () => data(api.GET('/api/v1/audit', { params: { query } })),
    enabled: may,
  });
  const entries = list.data?.entries ?? [];
  return (
    <Card withBorder component="section" aria-label={t.decisions}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h4">
            {t.decisions}
          </Title>
          {may && (
            <Anchor component={Link} size="sm" to={`/audit?${new URLSearchParams({ target: d.id })}`}>
              {t.auditOf}
            </Anchor>
          )}
        </Group>
        {list.isError && <Refused error={list.error} onRetry={() => void list.refetch()} />}
        <List size="sm" data-testid="decisions">
          {!may && (
            <List.Item>
              {t.created}: {d.created_by || t.fleetd}, {dateTime(d.created_at)}
            </List.Item>
          )}
          {!may && d.approved_by && (
            <List.Item>
              {t.approved}: {d.approved_by}
              {d.approved_at && `, ${dateTime(d.approved_at)}`}
            </List.Item>
          )}
          {entries.map((e) => (
            <List.Item key={e.seq}>
              <span dir="auto" className="any-text">
                {dateTime(e.at)}, {e.who || e.principal || t.itself}: <b>{what(e, undefined).words}</b>
                {e.why && ` – ${because(e.why)}`}
              </span>
            </List.Item>
          ))}
        </List>
        {may && list.isSuccess && entries.length === 0 && (
          <Text size="sm" c="dimmed">
            {t.noDecisions}
          </Text>
        )}
      </Stack>
    </Card>
  );
}
