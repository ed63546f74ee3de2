import { Card, Group, List, Loader, Stack, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { memo, type ReactNode, useEffect, useRef, useState } from 'react';

import { api, data, type Robot, type Schemas } from '../../api/client';
import { problemOf } from '../../api/problem';
import { useEventTables } from '../../live/EventWords';
import { RobotName } from '../../live/RobotName';
import { useLive } from '../../live/stream';
import { causeText, eventText } from '../../text/eventText';
import { useTermWords } from '../../text/terms';
import { clock } from '../../text/time';
import { grouped, names } from '../events/groups';
import { type Counts, quantile } from './counts';
import { lastEventsQuery } from './lastEvents';
import { Stray, straysKey } from './Stray';
import { useOverviewTexts } from './text';

/** ms between two looks at what the stream does not carry. */
export const refreshMs = 4000;

export function Panel({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card withBorder component="section" aria-label={title}>
      <Title order={2} size="h5" mb="xs">
        {title}
      </Title>
      {children}
    </Card>
  );
}

export function RobotLink({ id }: { id: string }) {
  return <RobotName id={id} link />;
}

/** Up to this many are listed; more are counted. */
export const maxRows = 12;

export function Driving({ fleet }: { fleet: readonly Robot[] }) {
  const t = useOverviewTexts();
  const driven = fleet.filter((r) => r.control);
  if (driven.length === 0) return null;
  return (
    <Panel title={t.drivingTitle}>
      <Stack gap={4}>
        {driven.slice(0, maxRows).map((r) => (
          <Group key={r.id} gap="xs">
            <RobotLink id={r.id} />
            <Text size="sm" dir="auto">
              {r.control!.by ? `${r.control!.by} (${r.control!.holder})` : r.control!.holder}
              {r.control!.scope === 'all' ? `, ${t.allOfIt}` : ''}
            </Text>
          </Group>
        ))}
        {driven.length > maxRows && <Text size="sm">{t.more(driven.length - maxRows)}</Text>}
      </Stack>
    </Panel>
  );
}

type Event = Schemas['Event'];

/** ms between two events that stand in one row, if both say the same. */
const repeatedMS = 10 * 60_000;

const levelShown = new Set(['warn', 'error', 'safety']);

/** What happened last at a site, or everywhere with an empty one; notable leaves out what robots do all day. */
export const LastEvents = memo(function LastEvents({
  site,
  notable,
  limit = 20,
}: {
  site: string;
  notable?: boolean;
  limit?: number;
}) {
  const t = useOverviewTexts();
  const words = useEventTables();
  const levels: Record<string, string> = useTermWords().EventLevel;
  const events = useQuery({
    queryKey: ['overview', 'events', site, notable, limit],
    queryFn: async () => {
      const query = lastEventsQuery(site, notable ?? false, limit);
      return (await data(api.GET('/api/v1/events', { params: { query } }))).events ?? [];
    },
    refetchInterval: refreshMs,
  });
  // Notable events say the same of many robots, again and again, when a machine is slow.
  const same = (e: Event) =>
    notable ? `${e.type} ${eventText(words.events, e)} ${causeText(words, e)}` : `${e.robot} ${e.boot} ${e.seq}`;
  const rows = grouped(events.data ?? [], same, (e) => Date.parse(e.received), repeatedMS);
  return (
    <Panel title={notable ? t.notableTitle : t.eventsTitle}>
      {events.isPending && <Loader size="sm" aria-label={t.loading} />}
      {events.isError && (
        <Text size="sm">
          {t.eventsFailed}: {problemOf(events.error).message}
        </Text>
      )}
      {events.data?.length === 0 && <Text size="sm">{t.noEvents}</Text>}
      <Table verticalSpacing={3} layout="auto">
        <Table.Tbody>
          {rows.slice(0, notable ? maxRows : limit).map(
            ({ key, rows: [e, ...others] }) =>
              e && (
                <Table.Tr key={key}>
                  <Table.Td w={76}>
                    <Text size="xs" c="dimmed">
                      {clock(e.received)}
                    </Text>
                  </Table.Td>
                  <Table.Td maw={120} style={{ whiteSpace: 'nowrap' }}>
                    {others.some((o) => o.robot !== e.robot) ? (
                      names(
                        [e, ...others].map((o) => o.robot),
                        2,
                      )
                    ) : (
                      <RobotLink id={e.robot} />
                    )}
                  </Table.Td>
                  <Table.Td>
                    <Text size="sm" title={e.type} dir="auto">
                      {eventText(words.events, e)}
                      {e.level && levelShown.has(e.level) && (
                        <Text span size="xs" fw={500} ms={6}>
                          {levels[e.level]}
                        </Text>
                      )}
                      <Text span size="xs" c="dimmed" ms={6}>
                        {causeText(words, e)}
                      </Text>
                      {others.length > 0 && (
                        <Text span size="xs" c="dimmed" ms={6}>
                          {`× ${others.length + 1}`}
                        </Text>
                      )}
                    </Text>
                  </Table.Td>
                </Table.Tr>
              ),
          )}
        </Table.Tbody>
      </Table>
    </Panel>
  );
});

/** The messages that fleetd receives in a second, from two of its statuses. */
function useRate(): number | undefined {
  const fleetd = useLive((s) => s.fleetd);
  const before = useRef<{ at: number; messages: number; name: string }>(undefined);
  const [rate, setRate] = useState<number>();
  useEffect(() => {
    if (!fleetd) return;
    const now = { at: Date.parse(fleetd.ts), messages: fleetd.messages, name: fleetd.name };
    const was = before.current;
    if (was && was.name === now.name && now.at > was.at && now.messages >= was.messages) {
      setRate(Math.round(((now.messages - was.messages) * 1000) / (now.at - was.at)));
    }
    before.current = now;
  }, [fleetd]);
  return rate;
}

export function FleetdPanel({ counts }: { counts: Counts }) {
  const t = useOverviewTexts();
  const fleetd = useLive((s) => s.fleetd);
  const rate = useRate();
  const latency = useQuery({
    queryKey: ['overview', 'latency'],
    queryFn: async () => {
      const { commands } = await data(api.GET('/api/v1/commands', { params: { query: { limit: 50 } } }));
      const took = commands.flatMap((c) => (c.at && c.answer ? [Date.parse(c.answer.ts) - Date.parse(c.at)] : []));
      return quantile(
        took.filter((ms) => ms >= 0).sort((a, b) => a - b),
        0.5,
      );
    },
    refetchInterval: 3 * refreshMs,
  });
  if (!fleetd) return null;
  const led = fleetd.leadership;
  const [median, slow] = [quantile(counts.roundTrips, 0.5), quantile(counts.roundTrips, 0.95)];
  const rows: [string, string][] = [
    [t.roundTrip, median === undefined ? t.unknown : `${t.ms(median)} / ${t.ms(slow!)}`],
    [t.latency, latency.data === undefined ? t.unknown : t.ms(latency.data)],
    [t.rate, rate === undefined ? t.unknown : t.perSecond(rate)],
    [
      t.instance,
      `${fleetd.name} ${fleetd.version}, ${led.leads ? t.leads : led.leader ? t.follows(led.leader) : t.noLeader(led.why ?? '')}`,
    ],
    [t.others, fleetd.others?.join(', ') || t.noOthers],
  ];
  return (
    <Panel title={t.fleetTitle}>
      <Table verticalSpacing={3}>
        <Table.Tbody>
          {rows.map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th fw={400} scope="row">
                {name}
              </Table.Th>
              <Table.Td fw={500} className={value.length < 16 ? 'one-line' : undefined}>
                {value}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Panel>
  );
}

/** What an administrator should look at; nothing if there is nothing. */
export function NeedsAdministrator({ fleet, actions }: { fleet: readonly Robot[]; actions: boolean }) {
  const t = useOverviewTexts();
  const fleetd = useLive((s) => s.fleetd);
  const orphans = useQuery({
    queryKey: straysKey,
    queryFn: async () => (await data(api.GET('/api/v1/orphans'))).orphans ?? [],
    refetchInterval: refreshMs,
  });
  const texts: string[] = [];
  if (fleetd?.disputed) texts.push(t.disputedInstance(fleetd.disputed));
  if (fleetd?.dropped) texts.push(t.dropped(fleetd.dropped));
  for (const k of fleetd?.retained_commands ?? []) {
    texts.push(`${t.retained(k.topic, k.client)}: ${k.why ? t.notRemoved(k.why) : t.removedAt(clock(k.at))}`);
  }
  for (const r of fleet) {
    if (r.presence.disputed) texts.push(t.disputedRobot(r.id));
    if (r.version_skew) texts.push(t.versionSkew(r.id, r.version_skew));
  }
  if (texts.length === 0 && !orphans.data?.length) return null;
  return (
    <Panel title={t.attention}>
      <List size="sm" spacing={4}>
        {texts.slice(0, maxRows).map((text) => (
          <List.Item key={text} dir="auto">
            {text}
          </List.Item>
        ))}
        {texts.length > maxRows && <List.Item>{t.more(texts.length - maxRows)}</List.Item>}
        {orphans.data?.slice(0, maxRows).map((o) => (
          <List.Item key={o.robot}>
            <Stray of={o} actions={actions} />
          </List.Item>
        ))}
      </List>
    </Panel>
  );
}
