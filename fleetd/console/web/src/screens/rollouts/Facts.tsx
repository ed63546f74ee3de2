import { Anchor, Card, Code, Stack, Table, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'react-router';

import { dateTime } from '../../text/time';
import type { Detail } from './types';
import { useContentText } from './contentText';
import { useRulesText } from './rules';
import { useRolloutsTexts } from './text';
import { whomText } from './whomText';

/** What a rollout is, and by which rules it goes. */
export function Facts({ of: d }: { of: Detail }) {
  const t = useRolloutsTexts();
  const rules = useRulesText();
  const said = useContentText();
  const at = (time?: string, who?: string) => time && [dateTime(time), who].filter(Boolean).join(', ');
  const causes: Partial<Record<Detail['cause'], string>> = {
    policy: `/policies/${encodeURIComponent(d.cause_id ?? '')}`,
    schedule: `/schedules/${encodeURIComponent(d.cause_id ?? '')}`,
  };
  const cause = causes[d.cause];
  const rows: [string, ReactNode][] = [
    [t.content, said(d.content)],
    [
      t.selector,
      d.selector && (
        <span key="selector" title={d.selector}>
          {whomText(d.selector, t.everyone)}
        </span>
      ),
    ],
    [
      t.cause,
      d.cause_id && cause ? (
        <Anchor component={Link} to={cause} size="sm">
          {t.causes[d.cause]} {d.cause_id}
        </Anchor>
      ) : (
        t.causes[d.cause]
      ),
    ],
    [t.created, at(d.created_at, d.created_by || t.fleetd)],
    [t.approved, d.approved_by && at(d.approved_at, d.approved_by)],
    [t.startsAt, at(d.not_before)],
    [t.started, at(d.started_at)],
    [t.endedAt, at(d.ended_at)],
    [t.rules, rules(d.spec)],
    [
      t.digest,
      <Stack key="digest" gap={2}>
        <Code style={{ overflowWrap: 'anywhere', whiteSpace: 'normal' }}>{d.digest}</Code>
        <Text size="xs" c="dimmed">
          {t.digestHelp}
        </Text>
      </Stack>,
    ],
  ];
  return (
    <Card withBorder component="section" aria-label={t.details}>
      <Stack gap="sm">
        <Title order={2} size="h4">
          {t.details}
        </Title>
        <Table withRowBorders={false} verticalSpacing={3} horizontalSpacing={0} layout="fixed">
          <Table.Tbody>
            {rows
              .filter(([, value]) => !!value)
              .map(([name, value]) => (
                <Table.Tr key={name}>
                  <Table.Th fw={400} w={132} style={{ verticalAlign: 'top' }}>
                    <Text size="sm" c="dimmed">
                      {name}
                    </Text>
                  </Table.Th>
                  <Table.Td className="any-text">
                    {typeof value === 'string' ? (
                      <Text size="sm" dir="auto">
                        {value}
                      </Text>
                    ) : (
                      value
                    )}
                  </Table.Td>
                </Table.Tr>
              ))}
          </Table.Tbody>
        </Table>
      </Stack>
    </Card>
  );
}
