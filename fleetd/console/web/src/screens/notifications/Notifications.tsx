import { Badge, Button, Group, Stack, Table, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { line } from '../../api/commandline';
import { lineOf } from '../../api/lines';
import { problemOf } from '../../api/problem';
import cards from '../../shell/cards.module.css';
import { CommandLine } from '../../shell/CommandLine';
import { ListState } from '../../shell/ListState';
import { ScreenHead } from '../../shell/ScreenHead';
import { ScreenTabs } from '../../shell/ScreenTabs';
import { useAlertTitle } from '../../live/AlertText';
import { useEventWords } from '../../text/events';
import { dateTime } from '../../text/time';
import { type Receiver, resend, type Route, type Sent, testReceiver, useReceivers, useRoutes, useSent } from './api';
import { DeleteDialog } from './DeleteDialog';
import { ReceiverDialog } from './ReceiverDialog';
import { RouteDialog } from './RouteDialog';
import { useNotificationsTexts } from './text';

const parts = { routes: Routes, receivers: Receivers, sent: SentList, dead: DeadList };

/** Who is told of alerts and events, what was sent, and what could not be. The address has the part that is open. */
export default function Notifications() {
  const t = useNotificationsTexts();
  return (
    <Stack>
      <ScreenHead title={t.title} about={t.about} />
      <ScreenTabs label={t.title} parts={parts} titles={t.tabs} />
    </Stack>
  );
}

function Receivers() {
  const t = useNotificationsTexts();
  const list = useReceivers();
  const rows = list.data ?? [];
  const [editing, edit] = useState<Receiver | 'new'>();
  const [deleting, remove] = useState<string>();
  return (
    <Stack>
      <Group justify="space-between">
        <Button onClick={() => edit('new')}>{t.newReceiver}</Button>
        <CommandLine compact lines={[line('receiver', 'list')]} />
      </Group>
      <ListState of={list} rows={rows.length} empty={t.noReceivers} />
      {rows.length > 0 && (
        <Table verticalSpacing="xs" className={cards.cards} aria-label={t.tabs.receivers}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t.name}</Table.Th>
              <Table.Th>{t.kind}</Table.Th>
              <Table.Th>{t.where}</Table.Th>
              <Table.Th>{t.state}</Table.Th>
              <Table.Th />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((r) => (
              <ReceiverRow key={r.id} of={r} onEdit={() => edit(r)} onDelete={() => remove(r.id)} />
            ))}
          </Table.Tbody>
        </Table>
      )}
      {editing && <ReceiverDialog of={editing === 'new' ? undefined : editing} onClose={() => edit(undefined)} />}
      {deleting && <DeleteDialog of="receiver" id={deleting} onClose={() => remove(undefined)} />}
    </Stack>
  );
}

function ReceiverRow({ of: r, onEdit, onDelete }: { of: Receiver; onEdit: () => void; onDelete: () => void }) {
  const t = useNotificationsTexts();
  const queries = useQueryClient();
  const test = useMutation({
    mutationFn: () => testReceiver(r.id),
    onSuccess: (got) => {
      notifications.show({
        color: got.ok ? undefined : 'red',
        message: got.ok ? t.tested(got.detail) : t.notTested(got.detail),
        autoClose: got.ok ? undefined : false,
      });
      void queries.invalidateQueries({ queryKey: ['notifications'] });
    },
    onError: (e) => notifications.show({ color: 'red', message: t.notTested(problemOf(e).message), autoClose: false }),
  });
  return (
    <Table.Tr data-testid="receiver">
      <Table.Td className={cards.lead}>
        <Text size="sm" fw={500}>
          {r.id}
        </Text>
      </Table.Td>
      <Table.Td>
        <Text size="sm">{t.kinds[r.kind]}</Text>
      </Table.Td>
      <Table.Td>
        <Text size="sm" className="any-text" dir="auto">
          {r.kind === 'email' ? (r.to ?? []).join(', ') : r.topic ? `${r.url}/${r.topic}` : r.url}
        </Text>
      </Table.Td>
      <Table.Td data-label={t.state}>
        <Group gap={4}>
          {!r.failing && r.waiting === 0 && (
            <Badge variant="dot" tt="none" color={r.last_sent_at ? 'green' : 'gray'}>
              {r.last_sent_at ? t.ok : t.nothingYet}
            </Badge>
          )}
          {r.waiting > 0 && (
            <Badge variant="dot" tt="none" color="yellow">
              {t.waiting(r.waiting)}
            </Badge>
          )}
          {r.dead > 0 && (
            <Badge variant="dot" tt="none" color="red">
              {t.dead(r.dead)}
            </Badge>
          )}
        </Group>
        {r.failing && (
          <Text size="xs" className="any-text" dir="auto">
            {r.failing}
          </Text>
        )}
        {r.last_sent_at && (
          <Text size="xs" c="dimmed" className="instant">
            {t.last}: {dateTime(r.last_sent_at)}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Group gap="xs" justify="flex-end">
          <Button
            size="compact-md"
            loading={test.isPending}
            aria-label={t.testOf(r.id)}
            title={lineOf('test-receiver', { path: { id: r.id }, body: {} })}
            onClick={() => test.mutate()}
          >
            {t.test}
          </Button>
          <Button size="compact-md" variant="default" aria-label={t.editOf(r.id)} onClick={onEdit}>
            {t.edit}
          </Button>
          <Button size="compact-md" variant="default" aria-label={t.deleteOf(r.id)} onClick={onDelete}>
            {t.delete}
          </Button>
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}

function Routes() {
  const t = useNotificationsTexts();
  const list = useRoutes();
  const rows = list.data ?? [];
  const receivers = useReceivers();
  const lacks = receivers.data?.length === 0;
  const [editing, edit] = useState<Route | 'new'>();
  const [receiving, receive] = useState(false);
  const [deleting, remove] = useState<string>();
  return (
    <Stack>
      <Group justify="space-between">
        <Button onClick={() => (lacks ? receive(true) : edit('new'))}>{lacks ? t.newReceiver : t.newRoute}</Button>
        <CommandLine compact lines={[line('route', 'list')]} />
      </Group>
      <ListState of={list} rows={rows.length} empty={lacks ? t.noReceivers : t.noRoutes} />
      {rows.length > 0 && (
        <Table verticalSpacing="xs" className={cards.cards} aria-label={t.tabs.routes}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t.name}</Table.Th>
              <Table.Th>{t.what}</Table.Th>
              <Table.Th>{t.sites}</Table.Th>
              <Table.Th>{t.receiver}</Table.Th>
              <Table.Th>{t.open}</Table.Th>
              <Table.Th />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((r) => (
              <RouteRow key={r.id} of={r} onEdit={() => edit(r)} onDelete={() => remove(r.id)} />
            ))}
          </Table.Tbody>
        </Table>
      )}
      {receiving && <ReceiverDialog onClose={() => receive(false)} />}
      {editing && <RouteDialog of={editing === 'new' ? undefined : editing} onClose={() => edit(undefined)} />}
      {deleting && <DeleteDialog of="route" id={deleting} onClose={() => remove(undefined)} />}
    </Stack>
  );
}

function RouteRow({ of: r, onEdit, onDelete }: { of: Route; onEdit: () => void; onDelete: () => void }) {
  const t = useNotificationsTexts();
  const title = useAlertTitle();
  const events: Record<string, string> = useEventWords();
  const types = [
    ...(r.alerts ?? []).map((a) => (a === 'all' ? t.all : title(a))),
    ...(r.events ?? []).map((e) => (events[e] ?? e).replaceAll('`', '')),
  ];
  return (
    <Table.Tr data-testid="route" className={r.enabled === false ? 'old' : undefined}>
      <Table.Td className={cards.lead}>
        <Text size="sm" fw={500} span>
          {r.id}
        </Text>{' '}
        {r.enabled === false && (
          <Badge variant="light" color="gray" tt="none">
            {t.disabled}
          </Badge>
        )}
      </Table.Td>
      <Table.Td>
        <Text size="sm" className="any-text">
          {types.length > 0 ? types.join('; ') : t.everyAlert}
          {r.level && ` (${t.level}: ${t.levels[r.level]})`}
        </Text>
        {r.quiet && (
          <Text size="xs" c="dimmed">
            {t.quiet}: {spansOf(r).join('; ')} ({r.quiet.zone})
          </Text>
        )}
      </Table.Td>
      <Table.Td data-label={t.sites}>
        <Text size="sm">{(r.sites ?? []).join(', ')}</Text>
      </Table.Td>
      <Table.Td data-label={t.receiver}>
        <Text size="sm">{r.receiver}</Text>
        {r.escalate && (
          <Text size="xs" c="dimmed">
            {t.escalates(r.escalate.receiver, Math.round(r.escalate.after_s / 60))}
          </Text>
        )}
      </Table.Td>
      <Table.Td data-label={t.open}>
        <Text size="sm">{r.open}</Text>
      </Table.Td>
      <Table.Td>
        <Group gap="xs" justify="flex-end">
          <Button size="compact-md" variant="default" aria-label={t.editOf(r.id)} onClick={onEdit}>
            {t.edit}
          </Button>
          <Button size="compact-md" variant="default" aria-label={t.deleteOf(r.id)} onClick={onDelete}>
            {t.delete}
          </Button>
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}

/** The quiet hours of a route as people write them: "sat,sun 00:00-24:00". */
const spansOf = (r: Route) =>
  (r.quiet?.windows ?? []).map((w) => [(w.days ?? []).join(','), w.span].filter(Boolean).join(' '));

function SentList() {
  return <SentTable state="" />;
}

function DeadList() {
  return <SentTable state="dead" />;
}

const stateColor: Record<Sent['state'], string> = { waiting: 'yellow', sent: 'green', dead: 'red' };

function SentTable({ state }: { state: '' | 'dead' }) {
  const t = useNotificationsTexts();
  const [limit, setLimit] = useState(50);
  const list = useSent(state, limit);
  const rows = list.data ?? [];
  return (
    <Stack>
      <Group justify="flex-end">
        <CommandLine compact lines={[line('notification', 'list', ...(state ? [`--state=${state}`] : []))]} />
      </Group>
      <ListState of={list} rows={rows.length} empty={state ? t.noDead : t.noSent} />
      {rows.length > 0 && (
        <Table verticalSpacing="xs" className={cards.cards} aria-label={state ? t.tabs.dead : t.tabs.sent}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t.at}</Table.Th>
              <Table.Th>{t.what}</Table.Th>
              <Table.Th>{t.receiver}</Table.Th>
              <Table.Th>{t.state}</Table.Th>
              <Table.Th />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((n) => (
              <SentRow key={n.id} of={n} />
            ))}
          </Table.Tbody>
        </Table>
      )}
      {rows.length >= limit && limit < 500 && (
        <Group justify="center">
          <Button variant="default" onClick={() => setLimit((n) => Math.min(500, n + 150))}>
            {t.more}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function SentRow({ of: n }: { of: Sent }) {
  const t = useNotificationsTexts();
  const queries = useQueryClient();
  const again = useMutation({
    mutationFn: () => resend(n.id),
    onSuccess: () => {
      notifications.show({ message: t.sentAgain });
      void queries.invalidateQueries({ queryKey: ['notifications'] });
    },
    onError: (e) => notifications.show({ color: 'red', message: problemOf(e).message, autoClose: false }),
  });
  return (
    <Table.Tr data-testid="notification">
      <Table.Td className={cards.side}>
        <Text size="sm" className="instant">
          {dateTime(n.at)}
        </Text>
      </Table.Td>
      <Table.Td className={cards.lead}>
        <Text size="sm" dir="auto" className="any-text">
          {n.subject}
        </Text>
        <Text size="xs" c="dimmed">
          {[n.route, t.sentKinds[n.kind]].filter(Boolean).join(', ')}
        </Text>
      </Table.Td>
      <Table.Td data-label={t.receiver}>
        <Text size="sm">{n.receiver}</Text>
      </Table.Td>
      <Table.Td>
        <Badge variant="dot" tt="none" color={stateColor[n.state]} miw="max-content">
          {t.states[n.state]}
          {n.tries > 1 && `, ${t.tries(n.tries)}`}
        </Badge>
        {n.state !== 'sent' && n.detail && (
          <Text size="xs" className="any-text" dir="auto">
            {n.detail}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        {n.state !== 'waiting' && (
          <Group justify="flex-end">
            <Button
              size="compact-md"
              variant="default"
              loading={again.isPending}
              aria-label={t.againOf(n.subject)}
              title={lineOf('resend-notification', { path: { id: n.id }, body: {} })}
              onClick={() => again.mutate()}
            >
              {t.again}
            </Button>
          </Group>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
