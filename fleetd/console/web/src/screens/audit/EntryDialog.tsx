import { Anchor, Code, Group, List, Modal, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';

import { api, data } from '../../api/client';
import { inButtons } from '../../text/buttons';
import { dateTime } from '../../text/time';
import { useCommandsTexts } from '../commands/text';
import { type Entry, saidBy, verbOf } from './entry';
import { Author, Outcome } from './EntryTable';
import { assignments, robotsBy } from './robots';
import { useAuditTexts } from './text';
import { useWhat } from './what';

/** JSON with a line for each field; text that is none stays as it is. */
export function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** One entry with what it changed, and the entries of how it ended. */
export function EntryDialog({ entry, onClose }: { entry: Entry; onClose: () => void }) {
  const t = useAuditTexts();
  const { states } = useCommandsTexts();
  const what = useWhat();
  const related = useQuery({
    queryKey: ['audit', 'of', entry.of || entry.id],
    queryFn: () => data(api.GET('/api/v1/audit', { params: { query: { id: entry.of || entry.id, limit: 20 } } })),
  });
  const others = (related.data?.entries ?? []).filter((e) => e.id !== entry.id);
  const begun = others.find((e) => e.id === entry.of);
  const { words, code } = what(entry, begun);
  const said = saidBy(entry, states);
  const sides = verbOf(entry) ? (['after'] as const) : (['before', 'after'] as const);
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={`${t.entry} ${entry.seq}`}
      closeButtonProps={{ 'aria-label': t.close }}
    >
      <Stack gap="sm">
        <Group justify="space-between">
          <Text fw={500} dir="auto">
            <span title={code}>{words}</span>: {entry.target}
          </Text>
          <Outcome of={entry.outcome} />
        </Group>
        <Group gap="lg" align="flex-start">
          <div>
            <Text size="xs" c="dimmed">
              {t.who}
            </Text>
            <Author of={entry} />
          </div>
          <div>
            <Text size="xs" c="dimmed">
              {t.at}
            </Text>
            <Text size="sm">{dateTime(entry.at)}</Text>
          </div>
          <div>
            <Text size="xs" c="dimmed">
              {t.from}
            </Text>
            <Text size="sm">
              {[entry.via && (t.vias[entry.via] ?? entry.via), entry.address].filter(Boolean).join(', ')}
            </Text>
          </div>
        </Group>
        {(
          [
            [t.why, said.why],
            [t.ended, inButtons(said.ended)],
            [verbOf(entry) ? t.args : t.detail, entry.after && verbOf(entry) ? '' : said.changed],
          ] as const
        ).map(
          ([label, text]) =>
            text && (
              <div key={label}>
                <Text size="xs" c="dimmed">
                  {label}
                </Text>
                <Text dir="auto" size="sm" className="any-text">
                  {text}
                </Text>
              </div>
            ),
        )}
        {(entry.before || entry.after) && (
          <SimpleGrid cols={{ base: 1, sm: sides.length }}>
            {sides.map((side) => (
              <div key={side}>
                <Text size="xs" c="dimmed">
                  {verbOf(entry) ? t.args : t[side]}
                </Text>
                {robotsBy(entry[side]) ? (
                  <List size="sm">
                    {robotsBy(entry[side])!.map(([had, robots]) => (
                      <List.Item key={had} className="any-text">
                        <b dir="auto">{had || t.none}</b>: {robots}
                      </List.Item>
                    ))}
                  </List>
                ) : (
                  <Code block tabIndex={0}>
                    {entry[side] ? pretty(entry[side]) : '–'}
                  </Code>
                )}
              </div>
            ))}
          </SimpleGrid>
        )}
        {entry.outcome === 'done' && assignments.includes(entry.what) && (
          <Anchor component={Link} to={`/assign?${new URLSearchParams({ at: entry.at })}`} size="sm">
            {t.toAssignment}
          </Anchor>
        )}
        {others.map((e) => (
          <Group key={e.id} gap="xs" align="center">
            <Text size="xs" c="dimmed">
              {e.of ? t.ended : t.begun}
            </Text>
            <Outcome of={e.outcome} />
            <Text size="sm" dir="auto" className="any-text">
              {e.of ? inButtons(saidBy(e, states).ended) : [e.who || e.principal, e.why].filter(Boolean).join(': ')}
            </Text>
            <Text size="xs" c="dimmed">
              {dateTime(e.at)}
            </Text>
          </Group>
        ))}
        <Text size="xs" c="dimmed" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
          {t.proof}: {entry.hash}
        </Text>
      </Stack>
    </Modal>
  );
}
