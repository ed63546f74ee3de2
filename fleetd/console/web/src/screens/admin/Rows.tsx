import { Table } from '@mantine/core';
import type { ReactNode } from 'react';

/** A column of a list: its head, what it shows of a row, and from which width it is there. */
export interface Column<R> {
  head: string;
  cell: (row: R) => ReactNode;
  /** The head is for screen readers only. */
  unseen?: boolean;
  from?: 'sm' | 'md';
}

interface RowsProps<R> {
  label: string;
  columns: readonly Column<R>[];
  rows: readonly R[];
  keyOf: (row: R) => string;
  /** Rows that do not count any more. */
  stale?: (row: R) => boolean;
}

/** A list of the administration as a table; without rows there is none. */
export function Rows<R>({ label, columns, rows, keyOf, stale }: RowsProps<R>) {
  if (rows.length === 0) return null;
  return (
    <Table.ScrollContainer minWidth={340} type="native" w="100%">
      <Table verticalSpacing="xs" highlightOnHover aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            {columns.map((c) => (
              <Table.Th key={c.head} visibleFrom={c.from}>
                {c.unseen ? <span className="unseen">{c.head}</span> : c.head}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={keyOf(row)} className={stale?.(row) ? 'old' : undefined}>
              {columns.map((c) => (
                <Table.Td key={c.head} visibleFrom={c.from} dir="auto">
                  {c.cell(row)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
