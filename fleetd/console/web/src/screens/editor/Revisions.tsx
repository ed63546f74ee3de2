import { Anchor, Button, Drawer, Group, Stack, Table, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { lineOf } from '../../api/lines';
import { CommandLine } from '../../shell/CommandLine';
import { dateTime } from '../../text/time';
import { contentOf, type Entry, restore, useRefresh, usesOf } from '../library/api';
import { Refused } from '../../shell/Refused';
import { DiffView } from './DiffView';
import { type Kind, plural, write } from './model';
import { SavedLink } from './SavedLink';
import { useEditorTexts } from './text';
import type { Editor } from './useEditor';

/** The published revisions: which robots have which, compared with the draft, restored. */
export function Revisions({ editor, entry, onClose }: { editor: Editor; entry: Entry; onClose: () => void }) {
  const t = useEditorTexts();
  const refresh = useRefresh();
  const { kind, id } = editor;
  const [shown, show] = useState<number>();
  const [error, setError] = useState<unknown>();
  const uses = useQuery({ queryKey: ['uses', kind, id], queryFn: () => usesOf(kind, id) });
  const content = useQuery({
    queryKey: ['revision', kind, id, shown],
    enabled: shown !== undefined,
    queryFn: () => contentOf(kind, id, shown!),
    staleTime: Infinity,
  });
  const bringBack = async (rev: number) => {
    try {
      if (!(await editor.flush())) return;
      editor.take((await restore(kind, id, rev, editor.draftRev)).entry);
      notifications.show({ message: t.restored(rev) });
      await refresh();
      onClose();
    } catch (thrown) {
      setError(thrown);
    }
  };
  const revisions = entry.revisions ?? [];
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="lg"
      title={t.revisionsTitle(id)}
      closeButtonProps={{ 'aria-label': t.close }}
    >
      <Stack>
        <Text size="sm" c="dimmed">
          {revisions.length === 0 ? t.noRevisions : t.restoreHelp}
        </Text>
        {error !== undefined && <Refused error={error} />}
        {revisions.map((v) => {
          // What a robot has; what it is assigned, if it has no revision or that is not known.
          const on = (uses.data?.robots ?? []).filter((r) => (r.active ?? r.rev) === v.rev);
          return (
            <Stack key={v.rev} gap={4} component="section" aria-label={t.revisionNumber(v.rev)}>
              <Group justify="space-between" align="flex-start">
                <Stack gap={4} flex="1 1 14rem" miw={0}>
                  <Text fw={500}>{t.revisionNumber(v.rev)}</Text>
                  <Text size="sm" c="dimmed" dir="auto">
                    {dateTime(v.at)}, {t.by(v.by || t.somebody)}
                    {v.why ? `: ${v.why}` : ''}
                  </Text>
                </Stack>
                <Group gap="xs">
                  <Button
                    size="compact-sm"
                    variant="default"
                    aria-expanded={shown === v.rev}
                    onClick={() => show(shown === v.rev ? undefined : v.rev)}
                  >
                    {t.show}
                  </Button>
                  <Button
                    size="compact-sm"
                    variant="default"
                    disabled={!editor.mayEdit}
                    onClick={() => void bringBack(v.rev)}
                  >
                    {t.restore}
                  </Button>
                  <CommandLine compact lines={[lineOf(`restore-${kind}`, { path: { id, rev: v.rev }, body: {} })]} />
                </Group>
              </Group>
              {on.length > 0 && (
                <Text size="sm">
                  {t.onRobots(on.length)}:{' '}
                  {on
                    .slice(0, 12)
                    .map((r) => r.robot)
                    .join(', ')}
                  {on.length > 12 && ' …'}
                </Text>
              )}
              {shown === v.rev && content.data && <DiffView from={content.data} to={write(kind, editor.doc)} />}
            </Stack>
          );
        })}
      </Stack>
    </Drawer>
  );
}

/** What uses an entry, and which robots have which revision. */
export function UsesDrawer({ editor, onClose }: { editor: Editor; onClose: () => void }) {
  const t = useEditorTexts();
  const { kind, id } = editor;
  const uses = useQuery({ queryKey: ['uses', kind, id], queryFn: () => usesOf(kind, id), staleTime: 0 });
  const performers = uses.data?.performers ?? [];
  const robots = uses.data?.robots ?? [];
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="md"
      title={t.usesTitle(id)}
      closeButtonProps={{ 'aria-label': t.close }}
    >
      <Stack>
        {uses.isError && <Refused error={uses.error} onRetry={() => void uses.refetch()} />}
        {uses.data && performers.length + robots.length === 0 && (
          <Text>{kind === 'act' ? t.usedNowhereAct : t.usedNowhere}</Text>
        )}
        {performers.map((u) => (
          <Text key={`${u.kind}/${u.id}`} size="sm">
            {t.usedIn[u.kind as Kind]}{' '}
            <Anchor
              component={SavedLink}
              editor={editor}
              to={`/${plural[u.kind as Kind]}/${u.id}`}
              inherit
              fw={500}
              underline="always"
            >
              {u.id}
            </Anchor>
            :{' '}
            {[
              u.draft && t.usedDraft,
              u.rev && t.usedRevision(u.rev),
              u.robots?.length && `${t.onRobots(u.robots.length)} (${u.robots.join(', ')})`,
            ]
              .filter(Boolean)
              .join(', ')}
          </Text>
        ))}
        {robots.length > 0 && (
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t.robot}</Table.Th>
                <Table.Th>{t.assigned}</Table.Th>
                <Table.Th>{t.has}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {robots.map((r) => (
                <Table.Tr key={r.robot}>
                  <Table.Td>
                    <Anchor
                      component={SavedLink}
                      editor={editor}
                      to={`/robots/${encodeURIComponent(r.robot)}`}
                      inherit
                      underline="always"
                    >
                      {r.robot}
                    </Anchor>
                  </Table.Td>
                  <Table.Td>{r.rev ? `${t.revisionNumber(r.rev)} (${r.newest ? t.newest : t.older})` : '–'}</Table.Td>
                  <Table.Td>{r.active ? t.revisionNumber(r.active) : '–'}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
      </Stack>
    </Drawer>
  );
}
