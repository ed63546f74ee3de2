import { ActionIcon, Anchor, Badge, Group, Menu, Table, Text, Tooltip } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import {
  IconAlertTriangle,
  IconCheck,
  IconCircleDashed,
  IconCopy,
  IconDots,
  IconDownload,
  IconPencil,
  IconRestore,
  IconSend,
  IconTerminal2,
  IconTrash,
  IconX,
} from '@tabler/icons-react';
import { Link } from 'react-router';

import { useMay } from '../../api/me';
import { problemOf } from '../../api/problem';
import { useLanguage } from '../../text/language';
import { dateTime, duration } from '../../text/time';
import { type Entry, type Kind, isDeleted, nameOf, recover, useRefresh } from './api';
import { plural } from '../editor/model';
import { isTodo, isWrong } from '../editor/unfinished';
import { exportURL } from './files';
import { useLibraryTexts } from './text';

interface Props {
  kind: Kind;
  entries: readonly Entry[];
  onCopy: (e: Entry) => void;
  onLines: (e: Entry) => void;
  onDelete: (e: Entry) => void;
}

/** The rows of a list, with what each needs to be told apart and its actions. */
export function EntryTable({ kind, entries, onCopy, onLines, onDelete }: Props) {
  const t = useLibraryTexts();
  return (
    <Table highlightOnHover verticalSpacing="xs">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t.name}</Table.Th>
          <Table.Th visibleFrom="sm">{t.revision}</Table.Th>
          <Table.Th visibleFrom="sm">{t.length}</Table.Th>
          <Table.Th visibleFrom="md">{t.languages}</Table.Th>
          <Table.Th>{t.validity}</Table.Th>
          {kind !== 'act' && (
            <Table.Th visibleFrom="sm" className="one-line">
              {t.robots[kind]}
            </Table.Th>
          )}
          <Table.Th visibleFrom="lg">{t.changed}</Table.Th>
          <Table.Th>
            <span className="visually-hidden">{t.actions}</span>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {entries.map((e) => (
          <Row
            key={e.id}
            kind={kind}
            e={e}
            onCopy={() => onCopy(e)}
            onLines={() => onLines(e)}
            onDelete={() => onDelete(e)}
          />
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** Whether a draft could be published, in words and a color. */
export function Validity({ problems }: { problems: Entry['problems'] }) {
  const t = useLibraryTexts();
  const errors = (problems ?? []).filter(isWrong).length;
  const missing = (problems ?? []).filter(isTodo).length;
  const warnings = (problems ?? []).length - errors - missing;
  const [color, icon, label] =
    errors > 0
      ? (['red', <IconX key="i" size={14} aria-hidden />, t.errors(errors)] as const)
      : missing > 0
        ? (['gray', <IconCircleDashed key="i" size={14} aria-hidden />, t.unfinished] as const)
        : warnings > 0
          ? (['yellow', <IconAlertTriangle key="i" size={14} aria-hidden />, t.warnings(warnings)] as const)
          : (['green', <IconCheck key="i" size={14} aria-hidden />, t.valid] as const);
  const badge = (
    <Badge color={color} variant="light" tt="none" leftSection={icon} miw="max-content">
      {label}
    </Badge>
  );
  if (errors + missing + warnings === 0) return badge;
  return (
    <Tooltip
      label={(problems ?? [])
        .slice(0, 3)
        .map((p) => p.detail)
        .join('. ')}
    >
      {badge}
    </Tooltip>
  );
}

/** Whether the draft is what is published. */
export function DraftBadge({ e }: { e: Pick<Entry, 'rev' | 'draft_changed'> }) {
  const t = useLibraryTexts();
  if (e.rev > 0 && !e.draft_changed) return null;
  return (
    <Badge color={e.rev > 0 ? 'blue' : 'gray'} variant="light" tt="none">
      {e.rev > 0 ? t.edited : t.never}
    </Badge>
  );
}

function Row({
  kind,
  e,
  onCopy,
  onLines,
  onDelete,
}: {
  kind: Kind;
  e: Entry;
  onCopy: () => void;
  onLines: () => void;
  onDelete: () => void;
}) {
  const t = useLibraryTexts();
  const refresh = useRefresh();
  const language = useLanguage((s) => s.language);
  const mayEdit = useMay('edit');
  const mayAssign = useMay('assign');
  const deleted = isDeleted(e);
  const to = `/${plural[kind]}/${e.id}`;
  const bringBack = async () => {
    try {
      await recover(kind, e.id);
      notifications.show({ message: t.recovered(e.id) });
    } catch (thrown) {
      notifications.show({ color: 'red', message: problemOf(thrown).message });
    }
    await refresh();
  };
  return (
    <Table.Tr className={deleted ? 'stale' : undefined}>
      <Table.Td miw={120} style={{ overflowWrap: 'anywhere' }}>
        <Group gap="xs">
          <Anchor component={Link} to={to} fw={500} dir="auto">
            {nameOf(e, language)}
          </Anchor>
          {deleted ? <Badge color="gray">{t.deleted}</Badge> : <DraftBadge e={e} />}
        </Group>
        <Text size="xs" c="dimmed" dir="auto">
          {e.id}, {t.steps[kind](e.steps ?? 0)}
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="sm">{e.rev > 0 ? e.rev : '–'}</Table.Td>
      <Table.Td visibleFrom="sm" className="one-line">
        {e.length_ms ? duration(e.length_ms) : '–'}
      </Table.Td>
      <Table.Td visibleFrom="md">{(e.languages ?? []).join(', ') || '–'}</Table.Td>
      <Table.Td>
        <Validity problems={e.problems} />
      </Table.Td>
      {kind !== 'act' && (
        <Table.Td visibleFrom="sm" className="one-line" c={e.robots > 0 ? undefined : 'dimmed'}>
          {t.robotCount(e.robots)}
        </Table.Td>
      )}
      <Table.Td visibleFrom="lg" className="one-line">
        <Text size="sm">{dateTime(e.changed_at)}</Text>
        <Text size="xs" c="dimmed" dir="auto">
          {t.by(e.changed_by || t.somebody)}
        </Text>
      </Table.Td>
      <Table.Td w={1}>
        <Menu position="bottom-end" withinPortal>
          <Menu.Target>
            <ActionIcon variant="subtle" size={32} aria-label={t.more(nameOf(e, language))}>
              <IconDots size={18} aria-hidden />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item component={Link} to={to} leftSection={<IconPencil size={16} aria-hidden />}>
              {mayEdit ? t.edit : t.look}
            </Menu.Item>
            {kind !== 'act' && (
              <Menu.Item
                component={Link}
                to={`/assign?${kind}=${e.id}`}
                disabled={!mayAssign || e.rev === 0 || deleted}
                leftSection={<IconSend size={16} aria-hidden />}
              >
                {t.assign}
              </Menu.Item>
            )}
            <Menu.Item disabled={!mayEdit} onClick={onCopy} leftSection={<IconCopy size={16} aria-hidden />}>
              {t.duplicate}
            </Menu.Item>
            <Menu.Item
              component="a"
              href={exportURL(kind, [e.id], 'yaml')}
              download
              leftSection={<IconDownload size={16} aria-hidden />}
            >
              {t.exportYAML}
            </Menu.Item>
            <Menu.Item
              component="a"
              href={exportURL(kind, [e.id], 'zip')}
              download
              leftSection={<IconDownload size={16} aria-hidden />}
            >
              {t.exportZIP}
            </Menu.Item>
            <Menu.Item
              component="a"
              href={exportURL(kind, [e.id], 'csv')}
              download
              leftSection={<IconDownload size={16} aria-hidden />}
            >
              {t.exportCSV}
            </Menu.Item>
            <Menu.Item onClick={onLines} leftSection={<IconTerminal2 size={16} aria-hidden />}>
              {t.commandLine}
            </Menu.Item>
            <Menu.Divider />
            {deleted ? (
              <Menu.Item
                disabled={!mayEdit}
                onClick={() => void bringBack()}
                leftSection={<IconRestore size={16} aria-hidden />}
              >
                {t.recover}
              </Menu.Item>
            ) : (
              <Menu.Item
                disabled={!mayEdit}
                color="red"
                onClick={onDelete}
                leftSection={<IconTrash size={16} aria-hidden />}
              >
                {t.remove}
              </Menu.Item>
            )}
          </Menu.Dropdown>
        </Menu>
      </Table.Td>
    </Table.Tr>
  );
}
