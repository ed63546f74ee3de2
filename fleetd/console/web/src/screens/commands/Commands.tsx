import { Badge, Button, Group, Stack, Table, Text, Tooltip } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';

import { api, data } from '../../api/client';
import { useMay } from '../../api/me';
import cards from '../../shell/cards.module.css';
import { FilterChoice, FilterRow, FilterText } from '../../shell/Filter';
import { ListState } from '../../shell/ListState';
import { ScreenHead } from '../../shell/ScreenHead';
import { useScope } from '../../shell/scope';
import { useFilter } from '../../shell/useFilter';
import { inButtons } from '../../text/buttons';
import { dateTime } from '../../text/time';
import { useVerbWords } from '../../text/verbs';
import { CancelDialog } from './CancelDialog';
import { type Command, groupOf, inProgress, notCarriedOut, stateColor } from './states';
import { useCommandsTexts } from './text';

const page = 100;

/** A reason for a button. */
const shortened = (text: string) => (text.length > 120 ? `${text.slice(0, 119).trimEnd()}…` : text);

/** What was sent to robots, by whom, and how each answered. */
export default function Commands() {
  const t = useCommandsTexts();
  const verbs: Record<string, string> = useVerbWords();
  const may = useMay('command', 'manual', 'stop');
  const filter = useFilter(['robot', 'state', 'batch', 'reason'] as const);
  const [limit, setLimit] = useState(page);
  const [cancelling, setCancelling] = useState<Command>();
  const { reason } = filter.set;
  const [{ reason: _, ...query }] = useDebouncedValue(filter.set, 250);
  const site = useScope((s) => s.site);
  const list = useQuery({
    queryKey: ['commands', query, site, limit],
    queryFn: ({ signal }) =>
      data(
        api.GET('/api/v1/commands', {
          params: { query: { ...query, ...(site ? { site } : {}), limit } as never },
          signal,
        }),
      ),
    refetchInterval: 2000,
    placeholderData: keepPreviousData,
  });
  const all = list.data?.commands ?? [];
  const groups = notCarriedOut(all);
  const shown = reason ? all.filter((c) => groupOf(c) === reason) : all;
  return (
    <Stack>
      <ScreenHead title={t.title} about={t.about} />
      <FilterRow of={filter}>
        <FilterText of={filter} name="robot" label={t.robot} first />
        <FilterChoice of={filter} name="state" label={t.state} values={t.states} />
      </FilterRow>
      {groups.length > 0 && (
        <Stack gap={6} component="section" aria-label={t.refused}>
          <Text fw={500} size="sm">
            {t.refused}
          </Text>
          <Text size="xs" c="dimmed">
            {t.refusedHelp}
          </Text>
          <Group gap="xs">
            {groups.slice(0, 8).map((g) => (
              <Button
                key={g.reason}
                size="compact-sm"
                className="long-button"
                variant={reason === g.reason ? 'filled' : 'default'}
                aria-pressed={reason === g.reason}
                onClick={() => filter.put('reason', reason === g.reason ? '' : g.reason)}
              >
                <span dir="auto">
                  {shortened(inButtons(g.text))} ({t.times(g.count)})
                </span>
              </Button>
            ))}
          </Group>
        </Stack>
      )}
      <ListState of={list} rows={shown.length} empty={t.empty} />
      {shown.length > 0 && (
        <Table.ScrollContainer minWidth={280} type="native">
          <Table verticalSpacing={6} highlightOnHover className={cards.cards}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t.at}</Table.Th>
                <Table.Th>{t.robot}</Table.Th>
                <Table.Th>{t.command}</Table.Th>
                <Table.Th>{t.who}</Table.Th>
                <Table.Th>{t.why}</Table.Th>
                <Table.Th>{t.state}</Table.Th>
                <Table.Th visibleFrom="lg">{t.result}</Table.Th>
                <Table.Th>
                  <span className="visually-hidden">{t.cancel}</span>
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {shown.map((c) => (
                <Table.Tr key={c.id}>
                  <Table.Td className={cards.side}>
                    <Text size="sm" className="instant">
                      {c.at && dateTime(c.at)}
                    </Text>
                  </Table.Td>
                  <Table.Td className={cards.lead}>
                    <Text
                      size="sm"
                      component={Link}
                      to={`/robots/${encodeURIComponent(c.robot)}`}
                      td="underline"
                      dir="auto"
                    >
                      {c.robot}
                    </Text>
                  </Table.Td>
                  <Table.Td>
                    <Text size="sm" title={c.verb}>
                      {verbs[c.verb] ?? c.verb}
                    </Text>
                  </Table.Td>
                  <Table.Td data-label={t.who} miw={80}>
                    <Text size="sm" dir="auto" className="any-text">
                      {c.by || c.principal}
                    </Text>
                  </Table.Td>
                  <Table.Td maw={240} data-label={t.why}>
                    {c.why && (
                      <Text size="sm" dir="auto" lineClamp={3} className="any-text">
                        {c.why}
                      </Text>
                    )}
                  </Table.Td>
                  <Table.Td>
                    <Badge
                      variant="dot"
                      tt="none"
                      miw="max-content"
                      color={stateColor[c.state ?? ''] ?? 'gray'}
                      title={c.state}
                    >
                      {t.states[c.state as keyof typeof t.states] ?? c.state}
                    </Badge>
                    {c.because && (
                      <Text size="xs" dir="auto" hiddenFrom="lg" className="any-text">
                        {inButtons(c.because)}
                      </Text>
                    )}
                  </Table.Td>
                  <Table.Td visibleFrom="lg" maw={320}>
                    <Text size="sm" dir="auto" lineClamp={3} className="any-text" title={c.because}>
                      {inButtons(c.because ?? '')}
                    </Text>
                  </Table.Td>
                  <Table.Td>
                    {inProgress(c) && (
                      <Tooltip label={t.notMay} disabled={may}>
                        <Button
                          size="compact-sm"
                          variant="default"
                          data-disabled={!may || undefined}
                          aria-disabled={!may}
                          aria-label={t.cancelOne(c.verb, c.robot)}
                          onClick={() => may && setCancelling(c)}
                        >
                          {t.cancel}
                        </Button>
                      </Tooltip>
                    )}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {all.length >= limit && limit < 1000 && (
        <Group justify="center">
          <Button variant="default" onClick={() => setLimit((n) => Math.min(1000, n + page))}>
            {t.more}
          </Button>
        </Group>
      )}
      {cancelling && <CancelDialog command={cancelling} onClose={() => setCancelling(undefined)} />}
    </Stack>
  );
}
