import { Badge, Table, Text, UnstyledButton } from '@mantine/core';

import { dateTime } from '../../text/time';
import { useVerbWords } from '../../text/verbs';
import type { Entry } from './Audit';
import { useAuditTexts } from './text';
import { whatText } from './what';

const color: Record<Entry['outcome'], string> = {
  done: 'green',
  accepted: 'blue',
  partly: 'yellow',
  refused: 'orange',
  failed: 'red',
};

/** How something ended, in a word and a color. */
export function Outcome({ of }: { of: Entry['outcome'] }) {
  const t = useAuditTexts();
  return (
    <Badge variant="dot" color={color[of] ?? 'gray'} tt="none" miw="max-content">
      {t.outcomes[of] ?? of}
    </Badge>
  );
}

/** Who made an entry. */
export function Author({ of }: { of: Entry }) {
  const t = useAuditTexts();
  const named = of.who && of.who !== of.principal;
  return (
    <>
      <Text size="sm" dir="auto">
        {of.who || of.principal || t.nobody}
      </Text>
      {named && of.principal && (
        <Text size="xs" c="dimmed" dir="auto">
          {of.principal}
        </Text>
      )}
    </>
  );
}

/** Entries of the audit, the newest first. */
export function EntryTable({ entries, onOpen }: { entries: readonly Entry[]; onOpen: (e: Entry) => void }) {
  const t = useAuditTexts();
  const verbs: Record<string, string> = useVerbWords();
  return (
    <Table.ScrollContainer minWidth={340} type="native">
      <Table verticalSpacing={6} highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t.at}</Table.Th>
            <Table.Th>{t.who}</Table.Th>
            <Table.Th>{t.what}</Table.Th>
            <Table.Th visibleFrom="sm">{t.target}</Table.Th>
            <Table.Th>{t.outcome}</Table.Th>
            <Table.Th visibleFrom="md">{t.why}</Table.Th>
            <Table.Th visibleFrom="lg">{t.from}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {entries.map((e) => (
            <Table.Tr key={e.seq}>
              <Table.Td>
                <UnstyledButton
                  className="seen"
                  onClick={() => onOpen(e)}
                  aria-label={`${t.details(e.seq)}, ${dateTime(e.at)}`}
                >
                  <Text size="sm" td="underline" miw={110}>
                    {dateTime(e.at)}
                  </Text>
                </UnstyledButton>
              </Table.Td>
              <Table.Td>
                <Author of={e} />
              </Table.Td>
              <Table.Td>
                <Text size="sm">{whatText(verbs, e.what)}</Text>
              </Table.Td>
              <Table.Td visibleFrom="sm" maw={260}>
                <Text size="sm" dir="auto" lineClamp={2}>
                  {e.target}
                </Text>
              </Table.Td>
              <Table.Td>
                <Outcome of={e.outcome} />
              </Table.Td>
              <Table.Td visibleFrom="md" maw={320}>
                <Text size="sm" dir="auto" lineClamp={2}>
                  {e.why || e.detail}
                </Text>
              </Table.Td>
              <Table.Td visibleFrom="lg">
                <Text size="sm">{e.via && (t.vias[e.via] ?? e.via)}</Text>
                <Text size="xs" c="dimmed">
                  {e.address}
                </Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
