import { Accordion, Code, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Fragment } from 'react';

import { api, data } from '../../api/client';
import { problemOf } from '../../api/problem';
import { texts } from '../../text/language';
import { ago, dateTime } from '../../text/time';
import { Nothing, Panel } from './Panel';
import { useFleetdNow, usePage } from './page';
import { useRobotTexts } from './text';

const useTexts = texts(
  {
    published: 'Retained documents that the robot published',
    desired: 'Documents that fleetd publishes for it',
    none: 'fleetd has received none.',
    noDesired: 'Nothing is desired of it.',
    bytes: (n: number) => `${n} bytes`,
    received: (at: string, since: string) => `${at} (${since})`,
    help: 'Read only, as they are on the broker. The same on a terminal:',
  },
  {
    published: 'Aufbewahrte Dokumente des Roboters',
    desired: 'Dokumente, die fleetd für ihn veröffentlicht',
    none: 'fleetd hat keine empfangen.',
    noDesired: 'Von ihm ist nichts verlangt.',
    bytes: (n: number) => `${n} Bytes`,
    received: (at: string, since: string) => `${at} (${since})`,
    help: 'Nur zum Lesen, wie sie auf dem Broker stehen. Dasselbe im Terminal:',
  },
  {
    published: 'Documents conservés que le robot a publiés',
    desired: 'Documents que fleetd publie pour lui',
    none: 'fleetd n’en a reçu aucun.',
    noDesired: 'Rien n’est voulu de lui.',
    bytes: (n) => `${n} octets`,
    received: (at, since) => `${at} (${since})`,
    help: 'En lecture seule, tels qu’ils sont sur le broker. La même chose dans un terminal :',
  },
);

const pretty = (body: unknown) => JSON.stringify(body, null, 2);

/** What the robot published and what is published for it, byte for byte but for spaces. */
export default function RawTab() {
  const t = useTexts();
  const common = useRobotTexts();
  const { id } = usePage();
  const now = useFleetdNow();
  const params = { path: { id } };
  const documents = useQuery({
    queryKey: ['robot', id, 'documents'],
    queryFn: () => data(api.GET('/api/v1/robots/{id}/documents', { params })),
    refetchInterval: 3000,
  });
  const desired = useQuery({
    queryKey: ['robot', id, 'desired'],
    queryFn: () => data(api.GET('/api/v1/robots/{id}/desired', { params })),
  });
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        {t.help} <Code>fleetd robot documents {id}</Code>, <Code>fleetd desired get {id}</Code>
      </Text>
      <Panel title={t.published}>
        {documents.isPending && <Nothing>{common.loading}</Nothing>}
        {documents.isError && <Text size="sm">{problemOf(documents.error).message}</Text>}
        {documents.data?.documents.length === 0 && <Nothing>{t.none}</Nothing>}
        <Accordion multiple variant="contained">
          {documents.data?.documents.map((d) => (
            <Document
              key={d.topic}
              name={d.topic}
              about={`${t.bytes(d.bytes)}, ${t.received(dateTime(d.received), ago(now - Date.parse(d.received)))}`}
              body={d.body}
            />
          ))}
        </Accordion>
      </Panel>
      <Panel title={t.desired}>
        {desired.isPending && <Nothing>{common.loading}</Nothing>}
        {desired.isError && <Text size="sm">{problemOf(desired.error).message}</Text>}
        {desired.data?.desired.length === 0 && <Nothing>{t.noDesired}</Nothing>}
        <Accordion multiple variant="contained">
          {desired.data?.desired.map((d) => (
            <Document key={d.topic} name={d.topic} about={d.overtaken ?? ''} body={d.desired} />
          ))}
        </Accordion>
      </Panel>
    </Stack>
  );
}

function Document({ name, about, body }: { name: string; about: string; body: unknown }) {
  return (
    <Accordion.Item value={name}>
      <Accordion.Control>
        <Group gap="xs">
          <Text size="sm" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
            {name.split('/').map((part, i) => (
              <Fragment key={i}>
                {i > 0 && '/'}
                <wbr />
                {part}
              </Fragment>
            ))}
          </Text>
          <Text size="xs" c="dimmed">
            {about}
          </Text>
        </Group>
      </Accordion.Control>
      <Accordion.Panel>
        <Code block tabIndex={0} dir="ltr" mah={480} style={{ overflow: 'auto' }}>
          {pretty(body)}
        </Code>
      </Accordion.Panel>
    </Accordion.Item>
  );
}
