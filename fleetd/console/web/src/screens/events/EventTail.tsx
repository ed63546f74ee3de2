import { Badge, Button, Group, NativeSelect, Skeleton, Stack, Table, Text, TextInput, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';

import { api, data } from '../../api/client';
import { dateTime } from '../../text/time';
import { useFilter } from '../audit/useFilter';
import { Refused } from '../library/Refused';
import { useEventsTexts } from './text';

const color: Record<string, string> = { info: 'gray', warn: 'yellow', error: 'red', safety: 'grape' };
const page = 50;

/** What happened to robots; new events appear by themselves until it is paused. */
export function EventTail() {
  const t = useEventsTexts();
  const filter = useFilter(['robot', 'type', 'level'] as const);
  const [paused, setPaused] = useState(false);
  const [limit, setLimit] = useState(page);
  const [query] = useDebouncedValue(filter.set, 250);
  const list = useQuery({
    queryKey: ['events', query, limit],
    queryFn: ({ signal }) => {
      const { level, ...rest } = query;
      return data(
        api.GET('/api/v1/events', {
          params: { query: { ...rest, ...(level ? { level: [level] } : {}), limit } as never },
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
      <Group align="flex-end" gap="xs">
        {(['robot', 'type'] as const).map((name) => (
          <TextInput
            key={name}
            data-filter={name === 'robot' || undefined}
            label={t[name]}
            value={filter.values[name]}
            onChange={(e) => filter.put(name, e.currentTarget.value)}
            w={160}
          />
        ))}
        <NativeSelect
          label={t.level}
          value={filter.values.level}
          onChange={(e) => filter.put('level', e.currentTarget.value)}
          data={[
            { value: '', label: t.any },
            ...(['info', 'warn', 'error', 'safety'] as const).map((value) => ({ value, label: t.levels[value] })),
          ]}
        />
        {filter.any && (
          <Button variant="subtle" onClick={filter.clear}>
            {t.clear}
          </Button>
        )}
      </Group>
      {list.isPending && <Skeleton h={120} aria-label={t.loading} role="status" />}
      {list.isError && <Refused error={list.error} onRetry={() => void list.refetch()} />}
      {list.isSuccess && events.length === 0 && <Text role="status">{t.empty}</Text>}
      {events.length > 0 && (
        <Table.ScrollContainer minWidth={340} type="native">
          <Table verticalSpacing={4}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t.at}</Table.Th>
                <Table.Th>{t.robot}</Table.Th>
                <Table.Th visibleFrom="sm">{t.level}</Table.Th>
                <Table.Th>{t.type}</Table.Th>
                <Table.Th visibleFrom="md">{t.cause}</Table.Th>
                <Table.Th visibleFrom="sm">{t.data}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {events.map((e) => (
                <Table.Tr key={`${e.robot} ${e.boot} ${e.seq}`}>
                  <Table.Td>
                    <Text size="sm">{dateTime(e.received)}</Text>
                  </Table.Td>
                  <Table.Td>
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
                    <Badge variant="dot" color={color[e.level ?? ''] ?? 'gray'} tt="none">
                      {t.levels[e.level as keyof typeof t.levels] ?? e.level}
                    </Badge>
                  </Table.Td>
                  <Table.Td>
                    <Text size="sm">{e.type.replaceAll('_', ' ')}</Text>
                  </Table.Td>
                  <Table.Td visibleFrom="md">
                    <Text size="sm" dir="auto">
                      {e.cause}
                    </Text>
                  </Table.Td>
                  <Table.Td visibleFrom="sm" maw={420}>
                    <Text size="xs" ff="monospace" dir="auto" lineClamp={2}>
                      {e.data === undefined ? '' : JSON.stringify(e.data)}
                    </Text>
                  </Table.Td>
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
