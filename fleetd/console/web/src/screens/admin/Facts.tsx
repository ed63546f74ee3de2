import { Table } from '@mantine/core';
import type { ReactNode } from 'react';

/** Named facts, one a row. */
export function Facts({
  label,
  rows,
}: {
  label: string;
  rows: readonly (readonly [name: string, value: ReactNode])[];
}) {
  return (
    <Table maw={720} verticalSpacing="xs" aria-label={label}>
      <Table.Tbody>
        {rows.map(([name, value]) => (
          <Table.Tr key={name}>
            <Table.Th scope="row" w={{ base: 120, sm: 220 }}>
              {name}
            </Table.Th>
            <Table.Td dir="auto">{value || '–'}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
