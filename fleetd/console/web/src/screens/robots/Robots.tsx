import { Anchor, Stack, Table, Title } from '@mantine/core';
import { Link } from 'react-router';

import { PerformingBadge } from '../../live/PerformingBadge';
import { useRobots } from '../../live/robots';
import { texts } from '../../text/language';

const useTexts = texts(
  { title: 'Robots', robot: 'Robot', state: 'What it does' },
  { title: 'Roboter', robot: 'Roboter', state: 'Was er tut' },
);

/** Every robot of the fleet. */
export default function Robots() {
  const t = useTexts();
  return (
    <Stack>
      <Title order={1} size="h2">
        {t.title}
      </Title>
      <Table highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t.robot}</Table.Th>
            <Table.Th>{t.state}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {useRobots().map((r) => (
            <Table.Tr key={r.id}>
              <Table.Td>
                <Anchor component={Link} to={`/robots/${r.id}`}>
                  {r.id}
                </Anchor>
              </Table.Td>
              <Table.Td>
                <PerformingBadge robot={r} terms />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Stack>
  );
}
