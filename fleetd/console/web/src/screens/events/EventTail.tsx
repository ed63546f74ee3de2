import { Badge, Button, Group, Stack, Table, Text, Title } from '@mantine/core';
import { useDebouncedValue, useMediaQuery } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';

import { api, data } from '../../api/client';
import { EventDetails, EventFrom, EventWhat } from '../../live/EventWords';
import cards from '../../shell/cards.module.css';
import { FilterChoice, FilterRow, FilterText } from '../../shell/Filter';
import { ListState } from '../../shell/ListState';
import { useScope } from '../../shell/scope';
import { useFilter } from '../../shell/useFilter';
import { useTermWords } from '../../text/terms';
import { dateTime } from '../../text/time';
import { useEventsTexts } from './text';

const color: Record<string, string> = { info: 'gray.6', warn: 'yellow', error: 'red', safety: 'grape' };
const page = 50;

/** What happened to robots; new events appear by themselves until it is paused. */
export function EventTail() {
  const t = useEventsTexts();
  const { EventLevel: levels } = useTermWords();
  const wide = useMediaQuery('(min-width: 48em)') ?? true;
  const filter = useFilter(['robot', 'type', 'level'] as const);
  const [paused, setPaused] = useState(false);
  const [limit, setLimit] = useState(page);
  const [query] = useDebouncedValue(filter.set, 250);
  const site = useScope((s) => s.site);
  const list = useQuery({
    queryKey: ['events', query, site, limit],
    queryFn: ({ signal }) => {
      const { level, ...rest } = query;
      return data(
        api.GET('/api/v1/events', {
          params: {
            query: { ...rest, ...(level ? { level: [level] } : {}), ...(site ? { site } : {}), limit } as never,
          },
          signal,
        }),
      );
    },
    refetchInterval: paused ? false : 1500,
    placeholderData: keepPreviousData,
  });
  const events = list.data?.events ?? [];
  return (
    <Stack component="section" aria-labelledby="events-title" gap="sm">
      <Group justify="space-between">
        <Title order={2} size="h4" id="events-title">
          {t.events}
        </Title>
        <Group gap="xs">
          <Badge variant="dot" color={paused ? 'yellow' : 'green'} tt="none">
            {paused ? t.paused : t.live}
          </Badge>
          <Button size="compact-sm" variant="default" onClick={() => setPaused((p) => !p)}>
            {paused ? t.resume : t.pause}
          </Button>
        </Group>
      </Group>
      <Text size="sm" c="dimmed">
        {t.eventsHelp}
      </Text>
      <FilterRow of={filter}>
        <FilterText of={filter} name="robot" label={t.robot} first />
        <FilterText of={filter} name="type" label={t.typeCode} example="teleop_refused" />
        <FilterChoice of={filter} name="level" label={t.level} values={levels} />
      </FilterRow>
      <ListState of={list} rows={events.length} empty={t.empty} />
      {events.length > 0 && (
        <Table.ScrollContainer minWidth={280} type="native">
          <Table verticalSpacing={4} data-testid="events" className={cards.cards}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t.at}</Table.Th>
                <Table.Th>{t.robot}</Table.Th>
                <Table.Th visibleFrom="sm">{t.level}</Table.Th>
                <Table.Th>{t.type}</Table.Th>
                <Table.Th visibleFrom="md">{t.from}</Table.Th>
                {wide && <Table.Th>{t.data}</Table.Th>}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {events.map((e) => (
                <Table.Tr key={`${e.robot} ${e.boot} ${e.seq}`}>
                  <Table.Td className={cards.side}>
                    <Text size="sm" className="instant">
                      {dateTime(e.received)}
                    </Text>
                  </Table.Td>
                  <Table.Td className={cards.lead}>
                    <Text
                      size="sm"
                      component={Link}
                      to={`/robots/${encodeURIComponent(e.robot)}`}
                      td="underline"
                      dir="auto"
                    >
                      {e.robot}
                    </Text>
                  </Table.Td>
                  <Table.Td visibleFrom="sm">
                    <Badge variant="dot" color={color[e.level ?? ''] ?? 'gray'} tt="none" miw="max-content">
                      {levels[e.level as keyof typeof levels] ?? e.level}
                    </Badge>
                  </Table.Td>
                  <Table.Td miw={150}>
                    <EventWhat of={e} level={!wide} />
                    {!wide && <EventDetails of={e} />}
                  </Table.Td>
                  <Table.Td visibleFrom="md" miw={130} maw={200}>
                    <EventFrom of={e} />
                  </Table.Td>
                  {wide && (
                    <Table.Td miw={280}>
                      <EventDetails of={e} />
                    </Table.Td>
                  )}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {events.length >= limit && limit < 1000 && (
        <Group justify="center">
          <Button variant="default" onClick={() => setLimit((n) => Math.min(1000, n + 200))}>
            {t.more}
          </Button>
        </Group>
      )}
    </Stack>
  );
}
