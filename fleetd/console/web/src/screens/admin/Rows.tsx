import { Table } from '@mantine/core';
import type { ReactNode } from 'react';

import cards from '../../shell/cards.module.css';

/** A column of a list: its head, and what it shows of a row. */
export interface Column<R> {
  head: string;
  cell: (row: R) => ReactNode;
  /** The head is for screen readers only. */
  headHidden?: boolean;
}

interface RowsProps<R> {
  label: string;
  columns: readonly Column<R>[];
  rows: readonly R[];
  keyOf: (row: R) => string;
  /** Rows that do not count any more. */
  stale?: (row: R) => boolean;
}

/**
 * A list of the administration as a table; without rows there is none. On a phone a row is a card that begins with its
 * first column, beside which is that without a seen head; the others have their heads before them.
 */
export function Rows<R>({ label, columns, rows, keyOf, stale }: RowsProps<R>) {
  if (rows.length === 0) return null;
  return (
    <Table.ScrollContainer minWidth={280} type="native" w="100%">
      <Table verticalSpacing="xs" highlightOnHover aria-label={label} className={cards.cards}>
        <Table.Thead>
          <Table.Tr>
            {columns.map((c) => (
              <Table.Th key={c.head}>
                {c.headHidden ? <span className="visually-hidden">{c.head}</span> : c.head}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={keyOf(row)} className={stale?.(row) ? 'old' : undefined}>
              {columns.map((c, n) => (
                <Table.Td
                  key={c.head}
                  dir="auto"
                  className={n === 0 ? cards.lead : c.headHidden ? cards.side : undefined}
                  data-label={n === 0 || c.headHidden ? undefined : c.head}
                >
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
