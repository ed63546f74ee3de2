import { Anchor, Button, Chip, Group, ScrollArea, Switch, Table, Text, TextInput } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useState } from 'react';
import { Link } from 'react-router';

import type { Schemas } from '../../api/client';
import { problemOf } from '../../api/problem';
import { EventDetails, EventFrom, EventWhat, useEventTables } from '../../live/EventWords';
import { texts } from '../../text/language';
import { causeText, detailsText, type EventTables, eventText } from '../../text/eventText';
import { useTermWords } from '../../text/terms';
import { dateTime } from '../../text/time';
import { Nothing, Panel } from './Panel';
import { useEvents, usePage } from './page';
import { useRobotTexts } from './text';

const useTexts = texts(
  {
    title: 'Events',
    filter: 'Filter',
    hint: 'type, source, cause or data',
    level: 'Levels',
    live: 'Follow live',
    older: 'Show older ones',
    none: 'No such events.',
    at: 'Received',
    what: 'What',
    from: 'From',
    data: 'Details',
    audit: 'Who did what (audit)',
    commands: 'Commands',
    shown: (n: number) => (n === 1 ? '1 event' : `${n} events`),
    routine: 'also each act',
  },
  {
    title: 'Ereignisse',
    filter: 'Filter',
    hint: 'Art, Quelle, Ursache oder Einzelheiten',
    level: 'Stufen',
    live: 'Live folgen',
    older: 'Ältere zeigen',
    none: 'Keine solchen Ereignisse.',
    at: 'Empfangen',
    what: 'Was',
    from: 'Von',
    data: 'Einzelheiten',
    audit: 'Wer was tat (Protokoll)',
    commands: 'Befehle',
    shown: (n: number) => (n === 1 ? '1 Ereignis' : `${n} Ereignisse`),
    routine: 'auch jeder Akt',
  },
  {
    title: 'Événements',
    filter: 'Filtre',
    hint: 'type, source, cause ou données',
    level: 'Niveaux',
    live: 'Suivre en direct',
    older: 'Montrer les plus anciens',
    none: 'Aucun événement de ce genre.',
    at: 'Reçu',
    what: 'Quoi',
    from: 'De',
    data: 'Détails',
    audit: 'Qui a fait quoi (audit)',
    commands: 'Commandes',
    shown: (n) => (n < 2 ? `${n} événement` : `${n} événements`),
    routine: 'aussi chaque acte',
  },
);

type Event = Schemas['Event'];
const shownLevels = ['info', 'warn', 'error', 'safety'] as const;
/** Types of events that come with every act. */
const routine = new Set(['act_started', 'act_ended', 'story_round', 'life_suggestion']);
const step = 200;
const most = 1000;

/** What happened to the robot, the newest first, with a live tail. */
export default function EventsTab() {
  const t = useTexts();
  const common = useRobotTexts();
  const words = useEventTables();
  const { EventLevel: levels } = useTermWords();
  const { id } = usePage();
  const wide = useMediaQuery('(min-width: 48em)') ?? true;
  const [chosen, setChosen] = useState<string[]>([]);
  const [text, setText] = useState('');
  const [live, setLive] = useState(true);
  const [acts, setActs] = useState(true);
  const [limit, setLimit] = useState(step);
  const events = useEvents(id, { level: chosen, limit }, live ? 1500 : 0);
  const wanted = text.trim().toLowerCase();
  const shown = (events.data ?? []).filter(
    (e) => (acts || !routine.has(e.type)) && (!wanted || searchText(words, e).includes(wanted)),
  );
  const to = (path: string, field: string, value: string) => `/${path}?${field}=${encodeURIComponent(value)}`;
  return (
    <Panel
      title={t.title}
      aside={
        <Group gap="md">
          <Anchor component={Link} to={to('audit', 'target', `robot ${id}`)} size="sm">
            {t.audit}
          </Anchor>
          <Anchor component={Link} to={to('commands', 'robot', id)} size="sm">
            {t.commands}
          </Anchor>
        </Group>
      }
    >
      <Group align="flex-end" gap="md">
        <TextInput
          label={t.filter}
          placeholder={t.hint}
          data-filter
          value={text}
          onChange={(e) => setText(e.currentTarget.value)}
          flex={1}
          miw={200}
        />
        <Chip.Group multiple value={chosen} onChange={setChosen}>
          <Group gap={6} role="group" aria-label={t.level}>
            {shownLevels.map((l) => (
              <Chip key={l} value={l} size="sm">
                {levels[l]}
              </Chip>
            ))}
          </Group>
        </Chip.Group>
        <Switch label={t.routine} checked={acts} onChange={(e) => setActs(e.currentTarget.checked)} />
        <Switch label={t.live} checked={live} onChange={(e) => setLive(e.currentTarget.checked)} />
      </Group>
      {events.isPending && <Nothing>{common.loading}</Nothing>}
      {events.isError && <Text size="sm">{problemOf(events.error).message}</Text>}
      {events.data && shown.length === 0 && <Nothing>{t.none}</Nothing>}
      {shown.length > 0 && (
        <ScrollArea type="auto">
          <Table verticalSpacing={4} highlightOnHover data-testid="events" layout={wide ? 'fixed' : 'auto'}>
            <Table.Thead>
              <Table.Tr>
                {wide && <Table.Th w={190}>{t.at}</Table.Th>}
                <Table.Th>{t.what}</Table.Th>
                {wide && <Table.Th w="22%">{t.from}</Table.Th>}
                {wide && <Table.Th>{t.data}</Table.Th>}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {shown.map((e) => (
                <Row key={`${e.boot} ${e.seq}`} event={e} wide={wide} />
              ))}
            </Table.Tbody>
          </Table>
        </ScrollArea>
      )}
      <Group justify="space-between">
        <Text size="sm" c="dimmed" aria-live="polite">
          {t.shown(shown.length)}
        </Text>
        {(events.data?.length ?? 0) >= limit && limit < most && (
          <Button variant="default" onClick={() => setLimit(Math.min(most, limit + step))}>
            {t.older}
          </Button>
        )}
      </Group>
    </Panel>
  );
}

/** Everything of an event that a person may look for: what the page shows, and the codes. */
function searchText(t: EventTables, e: Event): string {
  const codes = [e.type, e.source, e.cause, e.req_id, JSON.stringify(e.data)];
  return [...codes, eventText(t.events, e), causeText(t, e), detailsText(t, e)].join(' ').toLowerCase();
}

function Row({ event: e, wide }: { event: Event; wide: boolean }) {
  return (
    <Table.Tr>
      {wide && (
        <Table.Td className="one-line">
          <Text size="sm">{dateTime(e.received)}</Text>
        </Table.Td>
      )}
      <Table.Td>
        {!wide && (
          <Text size="xs" c="dimmed">
            {dateTime(e.received)}
          </Text>
        )}
        <EventWhat of={e} level />
        {!wide && <EventDetails of={e} />}
      </Table.Td>
      {wide && (
        <Table.Td>
          <EventFrom of={e} />
        </Table.Td>
      )}
      {wide && (
        <Table.Td>
          <EventDetails of={e} />
        </Table.Td>
      )}
    </Table.Tr>
  );
}
