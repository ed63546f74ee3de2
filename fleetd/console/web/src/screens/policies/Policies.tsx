import { Anchor, Badge, Button, Stack, Table, Text, Title } from '@mantine/core';
import { Link } from 'react-router';

import { line } from '../../api/commandline';
import { useMay } from '../../api/me';
import cards from '../../shell/cards.module.css';
import { CommandLine } from '../../shell/CommandLine';
import { ListState } from '../../shell/ListState';
import { ScreenHead } from '../../shell/ScreenHead';
import { dateTime } from '../../text/time';
import { type Kind, useContentText, useKindNames } from '../rollouts/contentText';
import { groupsBy } from '../rollouts/states';
import { type Policy, usePolicies } from './api';
import { labelTexts } from './labels';
import { usePoliciesTexts } from './text';

const kinds: Kind[] = ['story', 'activities', 'config', 'mode', 'places'];

/** Which robots have what, also those that join later: by kind, in the order in which policies decide. */
export default function Policies() {
  const t = usePoliciesTexts();
  const names = useKindNames();
  const list = usePolicies();
  const may = useMay('assign');
  const all = list.data ?? [];
  const groups = new Map(groupsBy(all, (p) => p.kind));
  return (
    <Stack>
      <ScreenHead title={t.title} about={t.about}>
        <Button component={Link} to="/policies/new">
          {t.new}
        </Button>
      </ScreenHead>
      <CommandLineRow />
      <ListState of={list} rows={all.length} empty={t.empty} first={may ? '/policies/new' : undefined} />
      {kinds
        .filter((k) => groups.has(k))
        .map((k) => (
          <Stack key={k} gap="xs" component="section" aria-label={names[k]}>
            <Title order={2} size="h4">
              {names[k]}
            </Title>
            <PolicyTable
              label={names[k]}
              rows={[...groups.get(k)!].sort((a, b) => a.place - b.place || a.id.localeCompare(b.id))}
            />
          </Stack>
        ))}
    </Stack>
  );
}

function CommandLineRow() {
  const t = usePoliciesTexts();
  return (
    <Text size="sm" component="div">
      {t.order} <CommandLine compact lines={[line('policy', 'list')]} />
    </Text>
  );
}

function PolicyTable({ rows, label }: { rows: readonly Policy[]; label: string }) {
  const t = usePoliciesTexts();
  const said = useContentText();
  return (
    <Table verticalSpacing="xs" highlightOnHover className={cards.cards} aria-label={label}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th w={80}>{t.place}</Table.Th>
          <Table.Th>{t.name}</Table.Th>
          <Table.Th>{t.content}</Table.Th>
          <Table.Th>{t.selector}</Table.Th>
          <Table.Th>{t.robots}</Table.Th>
          <Table.Th>{t.changed}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((p) => (
          <Table.Tr key={p.id} data-testid="policy" className={p.enabled ? undefined : 'old'}>
            <Table.Td className={cards.side}>
              <Text size="sm">{p.place}</Text>
            </Table.Td>
            <Table.Td className={cards.lead}>
              <Anchor component={Link} to={`/policies/${encodeURIComponent(p.id)}`} size="sm" fw={500}>
                {p.id}
              </Anchor>{' '}
              {!p.enabled && (
                <Badge variant="light" color="gray" tt="none">
                  {t.disabled}
                </Badge>
              )}
              {p.owner && (
                <Text size="xs" c="dimmed" dir="auto" className="any-text">
                  {t.fromFolder(p.owner)}
                </Text>
              )}
            </Table.Td>
            <Table.Td>
              <Text size="sm" dir="auto" className="any-text">
                {said(p.text)}
              </Text>
            </Table.Td>
            <Table.Td data-label={t.selector}>
              <Text size="sm" dir="auto" className="any-text">
                {p.selector.all ? t.everyone : labelTexts(p.selector).join(', ')}
              </Text>
            </Table.Td>
            <Table.Td>
              <Text size="sm">
                {[t.decided(p.decides), p.enabled && p.selects > p.decides && t.lost(p.selects - p.decides)]
                  .filter(Boolean)
                  .join(', ')}
              </Text>
            </Table.Td>
            <Table.Td>
              <Text size="sm" dir="auto" className="any-text">
                {p.changed_by}
              </Text>
              <Text size="xs" c="dimmed" className="instant">
                {dateTime(p.changed_at)}
              </Text>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
