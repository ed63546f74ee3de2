import { Button, Checkbox, Group, Menu, Skeleton, Stack, Text, TextInput, Title, Tooltip } from '@mantine/core';
import { IconChevronDown, IconFileImport, IconPlus, IconSearch } from '@tabler/icons-react';
import { useState } from 'react';

import { useMay } from '../../api/me';
import { lineOf } from '../../api/lines';
import { useFilter } from '../../shell/useFilter';
import { type Entry, isDeleted, type Kind, useEntries } from './api';
import { DeleteDialog } from './DeleteDialog';
import { EntryTable } from './EntryTable';
import { exportLine } from './exportLines';
import { exportURL } from './files';
import { ImportDialog } from './ImportDialog';
import { LinesDialog } from './LinesDialog';
import { DuplicateDialog, NewDialog } from './NewDialog';
import { Refused } from '../../shell/Refused';
import { SlashKey } from '../../shell/SlashKey';
import { counted, useLibraryTexts } from './text';

/** The list of acts, stories or activities. */
export function Library({ kind }: { kind: Kind }) {
  const t = useLibraryTexts();
  const mayEdit = useMay('edit');
  const filter = useFilter(['q', 'deleted']);
  const deleted = filter.values.deleted !== '';
  const [dialog, open] = useState<{ what: 'new' | 'import' | 'copy' | 'delete' | 'lines'; of?: Entry }>();
  const entries = useEntries(kind, deleted);
  const close = () => open(undefined);
  const words = filter.values.q.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = (entries.data ?? []).filter((e) =>
    words.every((w) =>
      [e.id, ...Object.values(e.names ?? {}), ...(e.languages ?? [])].join(' ').toLowerCase().includes(w),
    ),
  );
  /** The entries of a row's menu that do their work at once. */
  const linesOf = (of: Entry) => [
    { label: t.exportYAML, line: exportLine(kind, [of.id], 'yaml') },
    { label: t.exportZIP, line: exportLine(kind, [of.id], 'zip') },
    { label: t.exportCSV, line: exportLine(kind, [of.id], 'csv') },
    ...(isDeleted(of)
      ? [{ label: t.recover, line: lineOf(`recover-${kind}`, { path: { id: of.id }, body: {} }) }]
      : []),
  ];
  const locked = { 'data-disabled': !mayEdit || undefined, 'aria-disabled': !mayEdit };

  return (
    <Stack>
      <Group justify="space-between" align="flex-start">
        <Stack gap={2} maw={640}>
          <Title order={1} size="h2">
            {t.title[kind]}
          </Title>
          <Text size="sm" c="dimmed">
            {t.about[kind]}
          </Text>
        </Stack>
        <Group gap="xs">
          <Menu position="bottom-end">
            <Menu.Target>
              <Button variant="default" rightSection={<IconChevronDown size={16} aria-hidden />}>
                {t.export}
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item component="a" href={exportURL(kind, [], 'zip')} download>
                {t.exportAll}
              </Menu.Item>
              <Menu.Item component="a" href={exportURL(kind, [], 'csv')} download>
                {t.exportAllCSV}
              </Menu.Item>
              <Menu.Item onClick={() => open({ what: 'lines' })}>{t.commandLine}</Menu.Item>
            </Menu.Dropdown>
          </Menu>
          <Tooltip label={t.noEdit} disabled={mayEdit}>
            <Button
              variant="default"
              leftSection={<IconFileImport size={18} aria-hidden />}
              {...locked}
              onClick={() => mayEdit && open({ what: 'import' })}
            >
              {t.import}
            </Button>
          </Tooltip>
          <Tooltip label={t.noEdit} disabled={mayEdit}>
            <Button
              leftSection={<IconPlus size={18} aria-hidden />}
              {...locked}
              onClick={() => mayEdit && open({ what: 'new' })}
            >
              {t.create[kind]}
            </Button>
          </Tooltip>
        </Group>
      </Group>
      <Group>
        <TextInput
          data-filter
          type="search"
          aria-label={t.filter}
          placeholder={t.filter}
          leftSection={<IconSearch size={16} aria-hidden />}
          rightSection={<SlashKey />}
          rightSectionPointerEvents="none"
          value={filter.values.q}
          onChange={(e) => filter.put('q', e.currentTarget.value)}
          w={{ base: '100%', xs: 300 }}
        />
        <Checkbox
          label={t.showDeleted[kind]}
          checked={deleted}
          onChange={(e) => filter.put('deleted', e.currentTarget.checked ? '1' : '')}
        />
        {entries.data && (
          <Text size="sm" c="dimmed" role="status" ms={{ sm: 'auto' }}>
            {counted(t, kind, {
              all: entries.data.length,
              shown: shown.length,
              deleted: shown.filter(isDeleted).length,
            })}
          </Text>
        )}
      </Group>
      {entries.isPending && (
        <Stack gap="xs" aria-label={t.loading} role="status">
          {[1, 2, 3, 4].map((n) => (
            <Skeleton key={n} h={40} />
          ))}
        </Stack>
      )}
      {entries.isError && <Refused error={entries.error} onRetry={() => void entries.refetch()} />}
      {entries.data?.length === 0 && (
        <Stack gap={4} py="xl" align="center">
          <Text fw={500}>{t.empty[kind]}</Text>
          <Text size="sm" c="dimmed">
            {t.emptyHelp}
          </Text>
        </Stack>
      )}
      {!!entries.data?.length && shown.length === 0 && (
        <Stack py="xl" align="center">
          <Text>{t.noMatch}</Text>
          <Button variant="default" onClick={() => filter.put('q', '')}>
            {t.clearFilter}
          </Button>
        </Stack>
      )}
      {shown.length > 0 && (
        <EntryTable
          kind={kind}
          entries={shown}
          onCopy={(of) => open({ what: 'copy', of })}
          onLines={(of) => open({ what: 'lines', of })}
          onDelete={(of) => open({ what: 'delete', of })}
        />
      )}
      {dialog?.what === 'new' && (
        <NewDialog kind={kind} taken={(entries.data ?? []).map((e) => e.id)} onClose={close} />
      )}
      {dialog?.what === 'lines' && (
        <LinesDialog
          lines={
            dialog.of
              ? linesOf(dialog.of)
              : [
                  { label: t.exportAll, line: exportLine(kind, [], 'zip') },
                  { label: t.exportAllCSV, line: exportLine(kind, [], 'csv') },
                ]
          }
          onClose={close}
        />
      )}
      {dialog?.what === 'import' && <ImportDialog onClose={close} />}
      {dialog?.what === 'copy' && (
        <DuplicateDialog kind={kind} id={dialog.of!.id} taken={(entries.data ?? []).map((e) => e.id)} onClose={close} />
      )}
      {dialog?.what === 'delete' && <DeleteDialog kind={kind} id={dialog.of!.id} onClose={close} />}
    </Stack>
  );
}
