import { Badge, Table, Text, UnstyledButton } from '@mantine/core';

import cards from '../../shell/cards.module.css';
import { inButtons } from '../../text/buttons';
import { dateTime } from '../../text/time';
import { useCommandsTexts } from '../commands/text';
import classes from './audit.module.css';
import { type Entry, presses, saidBy } from './entry';
import { useAuditTexts } from './text';
import { useWhat } from './what';

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
      <Text size="sm" dir="auto" className="any-text">
        {of.who || of.principal || t.nobody}
      </Text>
      {((named && of.principal) || of.of) && (
        <Text size="xs" c="dimmed" dir="auto" className="any-text">
          {of.of ? t.reports : of.principal}
        </Text>
      )}
    </>
  );
}

/** Entries of the audit, the newest first, what was asked for and how it ended in one row; on a phone each is a card. */
export function EntryTable({ entries, onOpen }: { entries: readonly Entry[]; onOpen: (e: Entry) => void }) {
  const t = useAuditTexts();
  const { states, doneBy } = useCommandsTexts();
  const what = useWhat();
  const byID = new Map(entries.map((e) => [e.id, e]));
  return (
    <Table verticalSpacing={6} highlightOnHover className={`${cards.cards} ${classes.entries}`}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t.at}</Table.Th>
          <Table.Th>{t.who}</Table.Th>
          <Table.Th>{t.what}</Table.Th>
          <Table.Th>{t.target}</Table.Th>
          <Table.Th>{t.outcome}</Table.Th>
          <Table.Th>{t.why}</Table.Th>
          <Table.Th visibleFrom="lg">{t.from}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {presses(entries).map(({ entry: e, end, ends, done }) => {
          const said = { ...saidBy(e, states), ...(end && { ended: saidBy(end, states).ended }) };
          const { words, code } = what(e, e.of ? byID.get(e.of) : undefined);
          return (
            <Table.Tr key={e.seq}>
              <Table.Td className={cards.lead}>
                <UnstyledButton
                  className="seen"
                  onClick={() => onOpen(e)}
                  aria-label={`${t.details(e.seq)}, ${dateTime(e.at)}`}
                >
                  <Text size="sm" td="underline" className="instant">
                    {dateTime(e.at)}
                  </Text>
                </UnstyledButton>
              </Table.Td>
              <Table.Td className={cards.side} miw={80}>
                <Author of={e} />
              </Table.Td>
              <Table.Td className={classes.what}>
                <Text size="sm" title={code}>
                  {words}
                </Text>
              </Table.Td>
              <Table.Td className={classes.target}>
                <Text size="sm" dir="auto" lineClamp={2} className="any-text">
                  {e.target}
                </Text>
                {said.changed && (
                  <Text size="xs" c="dimmed" dir="auto" lineClamp={2} className="any-text">
                    {said.changed}
                  </Text>
                )}
              </Table.Td>
              <Table.Td className={classes.ended}>
                <Outcome of={(end ?? e).outcome} />
                {ends > 1 && done < ends && <Text size="xs">{doneBy(done, ends)}</Text>}
                {said.ended && (
                  <Text size="xs" dir="auto" lineClamp={3} className="any-text">
                    {inButtons(said.ended)}
                  </Text>
                )}
              </Table.Td>
              <Table.Td className={classes.why} data-label={t.why}>
                {said.why && (
                  <Text size="sm" dir="auto" lineClamp={3} className="any-text">
                    {said.why}
                  </Text>
                )}
              </Table.Td>
              <Table.Td visibleFrom="lg">
                <Text size="sm" miw={90}>
                  {e.via && (t.vias[e.via] ?? e.via)}
                </Text>
                <Text size="xs" c="dimmed">
                  {e.address}
                </Text>
              </Table.Td>
            </Table.Tr>
          );
        })}
      </Table.Tbody>
    </Table>
  );
}
