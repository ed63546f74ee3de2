import { Card, Stack, Table, Text, Title } from '@mantine/core';

import type { Detail } from './types';
import { useRolloutsTexts } from './text';
import { useWhyText } from './whyText';

type Counts = NonNullable<Detail['health']>['rest'];

const percent = (n: number, of: number) => (of > 0 ? `${Math.round((100 * n) / of)} %` : '–');

/** The robots that have the content beside the others of the fleet. */
export function Health({ of: d }: { of: Detail }) {
  const t = useRolloutsTexts();
  const because = useWhyText();
  if (!d.health) return null;
  const { updated, rest } = d.health;
  const rows: [string, (c: Counts) => string][] = [
    [t.healthRows.offline, (c) => `${c.offline} (${percent(c.offline, c.robots)})`],
    [t.healthRows.critical, (c) => `${c.critical} (${percent(c.critical, c.robots)})`],
    [t.healthRows.latched, (c) => `${c.latched} (${percent(c.latched, c.robots)})`],
    [t.healthRows.act_errors, (c) => `${t.ofActs(c.act_errors, c.acts)} (${percent(c.act_errors, c.acts)})`],
    [t.healthRows.interrupts, (c) => (c.robots > 0 ? (c.interrupts / c.robots).toFixed(1) : '–')],
  ];
  return (
    <Card withBorder component="section" aria-label={t.health}>
      <Stack gap="xs">
        <Title order={2} size="h4">
          {t.health}
        </Title>
        <Text size="xs" c="dimmed">
          {t.healthAbout}
        </Text>
        {d.health.worse && (
          <Text size="sm" fw={500} dir="auto">
            {t.worse}: {because(d.health.worse)}
          </Text>
        )}
        {updated.robots === 0 ? (
          <Text size="sm">{t.noneYet}</Text>
        ) : (
          <Table verticalSpacing={4}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t.healthOf}</Table.Th>
                <Table.Th>
                  {updated.robots} {t.updated}
                </Table.Th>
                <Table.Th>
                  {rest.robots} {t.rest}
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map(([name, cell]) => (
                <Table.Tr key={name}>
                  <Table.Th fw={400}>{name}</Table.Th>
                  <Table.Td>{cell(updated)}</Table.Td>
                  <Table.Td>{cell(rest)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
      </Stack>
    </Card>
  );
}
