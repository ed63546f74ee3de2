import { Anchor, Button, Collapse, ScrollArea, Stack, Table, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Link } from 'react-router';

import { useAssignTexts } from './text';

/** Up to this many robots have a row; the rest are counted. */
const most = 200;

/** A table with a row for each robot, which is opened on demand. */
export function Each({
  head,
  rows,
  open,
}: {
  head: string[];
  rows: [robot: string, ...ReactNode[]][];
  open?: boolean;
}) {
  const t = useAssignTexts();
  const [shown, setShown] = useState(!!open);
  if (rows.length === 0) return null;
  // A column in which nothing stands leaves its room to the others.
  const used = head.map((_, i) => rows.some((r) => !!r[i + 1]));
  return (
    <Stack gap="xs" align="flex-start">
      <Button size="compact-sm" variant="default" aria-expanded={shown} onClick={() => setShown(!shown)}>
        {shown ? t.hideEach : t.showEach(rows.length)}
      </Button>
      <Collapse expanded={shown} w="100%">
        <ScrollArea.Autosize mah={360} viewportProps={{ tabIndex: 0, role: 'group', 'aria-label': t.robot }}>
          <Table data-testid="each" verticalSpacing={4} miw={head.length > 2 ? 420 : undefined}>
            <Table.Thead>
              <Table.Tr>
                {[t.robot, ...head.filter((_, i) => used[i])].map((h) => (
                  <Table.Th key={h} miw={80} style={{ whiteSpace: 'nowrap' }}>
                    {h}
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.slice(0, most).map(([robot, ...cells]) => (
                <Table.Tr key={robot}>
                  <Table.Td>
                    <Anchor component={Link} to={`/robots/${encodeURIComponent(robot)}`} size="sm">
                      {robot}
                    </Anchor>
                  </Table.Td>
                  {cells.map((c, i) =>
                    used[i] ? (
                      <Table.Td key={i} miw={80} style={{ overflowWrap: 'anywhere' }}>
                        <Text size="sm" dir="auto" component="div">
                          {c}
                        </Text>
                      </Table.Td>
                    ) : null,
                  )}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
          {rows.length > most && <Text size="sm">{t.more(rows.length - most)}</Text>}
        </ScrollArea.Autosize>
      </Collapse>
    </Stack>
  );
}
