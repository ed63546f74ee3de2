import { Badge, Loader, Table, Text } from '@mantine/core';

import type { Schemas } from '../../api/client';
import { useLive } from '../../live/stream';
import { useAdminTexts } from './text';

/** How this instance of fleetd is, as the stream says it every two seconds. */
export function About() {
  const t = useAdminTexts();
  const s = useLive((l) => l.fleetd);
  if (!s) return <Loader aria-label={t.loading} />;
  const lead = s.leadership;
  const rows: [string, React.ReactNode][] = [
    [t.broker, <Health key="b" of={s.broker} />],
    [t.database, <Health key="d" of={s.database} />],
    [t.leader, `${lead.leader ?? '–'}${lead.why ? ` (${lead.why})` : ''}`],
    [t.instance, s.name],
    [t.version, s.version],
    [t.fleet, s.fleet_id ?? '–'],
  ];
  return (
    <Table maw={720} verticalSpacing="xs">
      <Table.Tbody>
        {rows.map(([name, value]) => (
          <Table.Tr key={name}>
            <Table.Th scope="row" w={180}>
              {name}
            </Table.Th>
            <Table.Td>{typeof value === 'string' ? <Text dir="auto">{value}</Text> : value}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function Health({ of }: { of: Schemas['Health'] }) {
  const t = useAdminTexts();
  return (
    <Badge color={of.ok ? 'green' : 'red'} variant="light" tt="none" size="lg">
      {of.ok ? `${t.ok}${of.kind ? ` (${of.kind})` : ''}` : (of.why ?? '–')}
    </Badge>
  );
}
