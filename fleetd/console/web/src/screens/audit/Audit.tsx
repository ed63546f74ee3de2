import { Button, Group, Menu, NativeSelect, Skeleton, Stack, Text, TextInput, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconDownload } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { api, data, type Schemas } from '../../api/client';
import { Refused } from '../library/Refused';
import { EntryDialog } from './EntryDialog';
import { EntryTable } from './EntryTable';
import { useAuditTexts } from './text';
import { useFilter } from './useFilter';
import { Verify } from './Verify';

export type Entry = Schemas['AuditEntry'];

const fields = ['who', 'what', 'target', 'via', 'outcome', 'since', 'until'] as const;

/** The filter as fleetd reads it: times of this browser become times with a zone. */
function queryOf(set: Partial<Record<(typeof fields)[number], string>>): Record<string, string> {
  const out: Record<string, string> = { ...set };
  for (const name of ['since', 'until']) {
    if (out[name]) out[name] = new Date(out[name]).toISOString();
  }
  return out;
}

/** Who did what. */
export default function Audit() {
  const t = useAuditTexts();
  const filter = useFilter(fields);
  const [query] = useDebouncedValue(queryOf(filter.set), 250);
  const [open, setOpen] = useState<Entry>();
  const list = useInfiniteQuery({
    queryKey: ['audit', query],
    queryFn: ({ pageParam, signal }) =>
      data(
        api.GET('/api/v1/audit', {
          params: { query: { ...query, limit: 100, ...(pageParam ? { page_token: pageParam } : {}) } },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: (last) => last.next || undefined,
  });
  const entries = list.data?.pages.flatMap((p) => p.entries) ?? [];
  const exportURL = (format: string) => `/api/v1/audit/export?${new URLSearchParams({ ...query, format })}`;
  return (
    <Stack>
      <Group justify="space-between" align="flex-start">
        <Stack gap={2} maw={640}>
          <Title order={1} size="h2">
            {t.title}
          </Title>
          <Text size="sm" c="dimmed">
            {t.about}
          </Text>
        </Stack>
        <Menu position="bottom-end">
          <Menu.Target>
            <Button variant="default" leftSection={<IconDownload size={18} aria-hidden />}>
              {t.exportJSON.split(' ')[0]}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item component="a" href={exportURL('jsonl')} download>
              {t.exportJSON}
            </Menu.Item>
            <Menu.Item component="a" href={exportURL('csv')} download>
              {t.exportCSV}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </Group>
      <Verify />
      <Group align="flex-end" gap="xs">
        {(['who', 'what', 'target'] as const).map((name) => (
          <TextInput
            key={name}
            data-filter={name === 'who' || undefined}
            label={t[name]}
            value={filter.values[name]}
            onChange={(e) => filter.put(name, e.currentTarget.value)}
            w={150}
          />
        ))}
        <NativeSelect
          label={t.outcome}
          value={filter.values.outcome}
          onChange={(e) => filter.put('outcome', e.currentTarget.value)}
          data={[
            { value: '', label: t.any },
            ...Object.entries(t.outcomes).map(([value, label]) => ({ value, label })),
          ]}
        />
        <NativeSelect
          label={t.via}
          value={filter.values.via}
          onChange={(e) => filter.put('via', e.currentTarget.value)}
          data={[{ value: '', label: t.any }, ...Object.entries(t.vias).map(([value, label]) => ({ value, label }))]}
        />
        {(['since', 'until'] as const).map((name) => (
          <TextInput
            key={name}
            type="datetime-local"
            label={t[name]}
            value={filter.values[name]}
            onChange={(e) => filter.put(name, e.currentTarget.value)}
          />
        ))}
        {filter.any && (
          <Button variant="subtle" onClick={filter.clear}>
            {t.clear}
          </Button>
        )}
      </Group>
      {list.isPending && (
        <Stack gap="xs" aria-label={t.loading} role="status">
          {[1, 2, 3, 4].map((n) => (
            <Skeleton key={n} h={32} />
          ))}
        </Stack>
      )}
      {list.isError && <Refused error={list.error} onRetry={() => void list.refetch()} />}
      {list.isSuccess && entries.length === 0 && (
        <Text py="xl" ta="center" role="status">
          {t.empty}
        </Text>
      )}
      {entries.length > 0 && <EntryTable entries={entries} onOpen={setOpen} />}
      {list.hasNextPage && (
        <Group justify="center">
          <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            {t.older}
          </Button>
        </Group>
      )}
      {open && <EntryDialog entry={open} onClose={() => setOpen(undefined)} />}
    </Stack>
  );
}
