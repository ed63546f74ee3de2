import { Button, Checkbox, Group, Menu, Stack } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconDownload } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { addressOf } from '../../base';
import { api, data } from '../../api/client';
import { FilterChoice, FilterRow, FilterText } from '../../shell/Filter';
import { ListState } from '../../shell/ListState';
import { ScreenHead } from '../../shell/ScreenHead';
import { useFilter } from '../../shell/useFilter';
import type { Entry } from './entry';
import { EntryDialog } from './EntryDialog';
import { EntryTable } from './EntryTable';
import { fields, listQuery, queryOf } from './query';
import { useAuditTexts } from './text';
import { Verify } from './Verify';

/** Who did what. */
export default function Audit() {
  const t = useAuditTexts();
  const filter = useFilter(fields);
  const [set] = useDebouncedValue(filter.set, 250);
  const [renewals, setRenewals] = useState(false);
  const query = listQuery(set, renewals);
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
  const exportURL = (format: string) =>
    addressOf(`/api/v1/audit/export?${new URLSearchParams({ ...queryOf(set), format })}`);
  return (
    <Stack>
      <ScreenHead title={t.title} about={t.about}>
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
      </ScreenHead>
      <Verify />
      <FilterRow of={filter}>
        {(['who', 'what', 'target'] as const).map((name) => (
          <FilterText key={name} of={filter} name={name} label={t[name]} first={name === 'who'} />
        ))}
        <FilterChoice of={filter} name="outcome" label={t.outcome} values={t.outcomes} />
        <FilterChoice of={filter} name="via" label={t.via} values={t.vias} />
        {(['since', 'until'] as const).map((name) => (
          <FilterText key={name} of={filter} name={name} label={t[name]} time />
        ))}
      </FilterRow>
      {!set.what && (
        <Checkbox label={t.renewals} checked={renewals} onChange={(e) => setRenewals(e.currentTarget.checked)} />
      )}
      <ListState of={list} rows={entries.length} empty={t.empty} />
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
