import { Badge, Button, Group, Select, Stack, Table, Text, Title } from '@mantine/core';
import { useDebouncedValue, useMediaQuery } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Fragment, useState } from 'react';
import { Link } from 'react-router';

import { api, data, type Schemas } from '../../api/client';
import { EventDetails, EventFrom, EventWhat } from '../../live/EventWords';
import cards from '../../shell/cards.module.css';
import { FilterChoice, FilterRow, FilterText } from '../../shell/Filter';
import { ListState } from '../../shell/ListState';
import { useScope } from '../../shell/scope';
import { useFilter } from '../../shell/useFilter';
import { inButtons } from '../../text/buttons';
import { useEventWords } from '../../text/events';
import { useTermWords } from '../../text/terms';
import { dateTime } from '../../text/time';
import { queryOf } from '../audit/query';
import { useAuditTexts } from '../audit/text';
import { grouped, names } from './groups';
import { useEventsTexts } from './text';

const color: Record<string, string> = { info: 'gray.6', warn: 'yellow', error: 'red', safety: 'grape' };
const page = 50;

/** ms between two events of one cause that are shown in one line. */
const together = 60_000;

type Event = Schemas['Event'];

/** What events have in common that are shown in one line: robots with the same trouble, whatever each says of it. */
const causeOf = (e: Event) => [e.type, e.level, e.source, e.cause].join('\n');

/** What events of one robot have in common that are shown in one line: each says the same. */
const repeatOf = (e: Event) => [e.robot, causeOf(e), JSON.stringify(e.data)].join('\n');

const keyOf = (e: Event) => `${e.robot} ${e.boot} ${e.seq}`;
const robotsIn = (rows: readonly Event[]) => new Set(rows.map((e) => e.robot)).size;

/** The lines of the list: events with one cause at several robots, and what one robot said again and again. */
function linesOf(events: readonly Event[], ofOne: boolean): { key: string; rows: Event[] }[] {
  const at = (e: Event) => Date.parse(e.received);
  const repeats = (rows: readonly Event[]) =>
    grouped(rows, repeatOf, at, together).flatMap((g) =>
      g.rows.length > 1 ? [g] : g.rows.map((e) => ({ key: keyOf(e), rows: [e] })),
    );
  // One robot is asked for what happened to it, not whether it happened to others.
  if (ofOne) return repeats(events);
  return grouped(events, causeOf, at, together).flatMap((g) => (robotsIn(g.rows) > 1 ? [g] : repeats(g.rows)));
}

/** What happened to robots; new events appear by themselves until it is paused. */
export function EventTail() {
  const t = useEventsTexts();
  const times = useAuditTexts();
  const { EventLevel: levels } = useTermWords();
  const wide = useMediaQuery('(min-width: 48em)') ?? true;
  const filter = useFilter(['robot', 'type', 'level', 'since', 'until'] as const);
  const [paused, setPaused] = useState(false);
  const [limit, setLimit] = useState(page);
  const [query] = useDebouncedValue(filter.set, 250);
  const site = useScope((s) => s.site);
  const list = useQuery({
    queryKey: ['events', query, site, limit],
    queryFn: ({ signal }) => {
      const { level, ...rest } = queryOf(query);
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
  const lines = linesOf(events, !!query.robot);
  const types = useTypes();
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (key: string) =>
    setOpen((all) => (all.has(key) ? new Set([...all].filter((k) => k !== key)) : new Set([...all, key])));
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
        <Select
          label={t.typeOf}
          data={types}
          value={filter.values.type || null}
          onChange={(v) => filter.put('type', v ?? '')}
          searchable
          clearable
          w={{ base: '100%', xs: 280 }}
        />
        <FilterChoice of={filter} name="level" label={t.level} values={levels} />
        {(['since', 'until'] as const).map((name) => (
          <FilterText key={name} of={filter} name={name} label={times[name]} time />
        ))}
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
              {lines.map((g) => (
                <Fragment key={g.key}>
                  {g.rows.length > 1 && (
                    <GroupRow of={g.rows} open={open.has(g.key)} wide={wide} onToggle={() => toggle(g.key)} />
                  )}
                  {(g.rows.length === 1 || open.has(g.key)) &&
                    g.rows.map((e) => <EventRow key={keyOf(e)} of={e} wide={wide} />)}
                </Fragment>
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

/** The types of events by their words, for the filter. */
function useTypes(): { value: string; label: string }[] {
  const words = useEventWords();
  return Object.entries(words)
    .map(([value, text]) => ({ value, label: inButtons(text).replaceAll('`', '') }))
    .sort((a, b) => a.label.localeCompare(b.label));
}

function EventRow({ of: e, wide }: { of: Event; wide: boolean }) {
  const { EventLevel: levels } = useTermWords();
  return (
    <Table.Tr>
      <Table.Td className={cards.side}>
        <Text size="sm" className="instant">
          {dateTime(e.received)}
        </Text>
      </Table.Td>
      <Table.Td className={cards.lead}>
        <Text size="sm" component={Link} to={`/robots/${encodeURIComponent(e.robot)}`} td="underline" dir="auto">
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
  );
}

/** Events of one cause at several robots, or repeats at one, in one line that opens. */
function GroupRow({ of, open, wide, onToggle }: { of: Event[]; open: boolean; wide: boolean; onToggle: () => void }) {
  const t = useEventsTexts();
  const { EventLevel: levels } = useTermWords();
  const first = of[0]!;
  const robots = of.map((e) => e.robot);
  return (
    <Table.Tr data-testid="event-group">
      <Table.Td className={cards.side}>
        <Text size="sm" className="instant">
          {dateTime(first.received)}
        </Text>
      </Table.Td>
      <Table.Td className={cards.lead}>
        <Text size="sm" dir="auto" className="any-text">
          {names(robots)}
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <Badge variant="dot" color={color[first.level ?? ''] ?? 'gray'} tt="none" miw="max-content">
          {levels[first.level as keyof typeof levels] ?? first.level}
        </Badge>
      </Table.Td>
      <Table.Td miw={150}>
        <EventWhat of={robotsIn(of) > 1 ? { ...first, data: undefined } : first} level={!wide} />
        <Text size="xs" c="dimmed">
          {t.times(of.length)}
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="md" miw={130} maw={200}>
        <EventFrom of={first} />
      </Table.Td>
      <Table.Td>
        {robotsIn(of) === 1 && <EventDetails of={first} />}
        <Button size="compact-sm" variant="default" aria-expanded={open} onClick={onToggle}>
          {open ? t.hideEach : t.showEach(of.length)}
        </Button>
      </Table.Td>
    </Table.Tr>
  );
}
