import { Card, Group, Stack, Table, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

import { usePage } from './page';
import { PartLines } from './PartLines';

/** A titled part of a tab. It is greyed while what it shows may be old. */
export function Panel({ title, aside, children }: { title: string; aside?: ReactNode; children: ReactNode }) {
  const { stale } = usePage();
  return (
    <Card withBorder padding="md" component="section" aria-label={title} data-part>
      <Stack gap="sm">
        <Group justify="space-between" wrap="wrap" gap="xs">
          <Title order={2} size="h4">
            {title}
          </Title>
          <Group gap="xs">
            {aside}
            <PartLines />
          </Group>
        </Group>
        <Stack gap="sm" className={stale ? 'old' : undefined}>
          {children}
        </Stack>
      </Stack>
    </Card>
  );
}

/** Names and what is known of each; those without a value are left out. */
export function Facts({ rows }: { rows: [name: string, value: ReactNode][] }) {
  return (
    <Table withRowBorders={false} verticalSpacing={3} horizontalSpacing={0} layout="fixed">
      <Table.Tbody>
        {rows
          .filter(([, value]) => value !== undefined && value !== '' && value !== false)
          .map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th fw={400} pe="xs" style={{ verticalAlign: 'top', width: 140 }}>
                <Text size="sm" c="dimmed">
                  {name}
                </Text>
              </Table.Th>
              <Table.Td style={{ verticalAlign: 'top', overflowWrap: 'anywhere' }}>
                {typeof value === 'string' || typeof value === 'number' ? (
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
  );
}

/** What a list says when it has nothing. */
export function Nothing({ children }: { children: ReactNode }) {
  return (
    <Text size="sm" c="dimmed">
      {children}
    </Text>
  );
}
