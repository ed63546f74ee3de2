import {
  Alert,
  Anchor,
  Button,
  Group,
  Loader,
  Modal,
  Progress,
  SegmentedControl,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { IconCheck, IconPlugConnectedX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

import { addressOf } from '../../base';
import { api, data, type Schemas } from '../../api/client';
import { lineOf } from '../../api/lines';
import { problemOf } from '../../api/problem';
import { CommandLine } from '../../shell/CommandLine';
import { Refused } from '../../shell/Refused';
import { texts } from '../../text/language';
import { clock, dateTime } from '../../text/time';
import { ActionButton, useWhyNot } from './ActionButton';
import { useFleetdNow, usePage } from './page';
import { useRobotTexts } from './text';

type FlightRecord = Schemas['RecordsRecord'];

const useTexts = texts(
  {
    title: (robot: string) => `Flight record of ${robot}`,
    help: 'The robot always records what it does, like the flight recorder of an airplane. This saves the last minutes of that recording as a file on your computer. Nothing at the robot starts or changes.',
    last: 'Span: the last',
    minutes: (n: number) => (n === 1 ? '1 minute' : `${n} minutes`),
    span: (from: string, to: string) => `about ${from} to ${to}`,
    file: 'The file',
    what: 'A file .mcap is a recording for engineers: what was demanded of the robot and what it did, its state, commands, events and signals, each with its time. Foxglove (foxglove.dev) opens it and draws it as curves.',
    people: 'It may have what people said to the robot. The audit keeps who got it.',
    why: 'Reason, for the audit',
    get: 'Save the flight record',
    asked: (robot: string) =>
      `Waiting for ${robot}: it collects the flight record. This takes seconds, at most 2 minutes.`,
    sending: (kib: number, of: number) => `Arriving: fleetd has ${kib} of ${of} KiB`,
    done: (file: string) => `Ready: your browser saves it as ${file}`,
    content: (n: number, kib: number, from: string, to: string) => `${n} entries, ${kib} KiB, ${from} to ${to}`,
    download: 'Download again',
    until: (at: string) => `fleetd keeps it until ${at}.`,
    refused: 'The flight record did not arrive',
    away: (robot: string) => `${robot} is not connected`,
    awayHelp:
      'It can send its flight record when it is back; what it recorded until then is not lost. On the robot itself, robotd record export writes the same file.',
  },
  {
    title: (robot: string) => `Flugschreiber von ${robot}`,
    help: 'Der Roboter zeichnet immer auf, was er tut, wie der Flugschreiber eines Flugzeugs. Hier sichern Sie die letzten Minuten davon als Datei auf Ihrem Rechner. Am Roboter beginnt oder ändert sich nichts.',
    last: 'Spanne: die letzten',
    minutes: (n: number) => (n === 1 ? '1 Minute' : `${n} Minuten`),
    span: (from: string, to: string) => `etwa ${from} bis ${to}`,
    file: 'Die Datei',
    what: 'Eine Datei .mcap ist eine Aufzeichnung für Techniker: was vom Roboter verlangt wurde und was er tat, sein Zustand, Befehle, Ereignisse und Signale, jeweils mit der Zeit. Foxglove (foxglove.dev) öffnet sie und zeichnet sie als Kurven.',
    people: 'Sie enthält vielleicht, was Menschen zum Roboter sagten. Das Protokoll hält fest, wer sie bekam.',
    why: 'Grund, für das Protokoll',
    get: 'Aufzeichnung sichern',
    asked: (robot: string) =>
      `Warten auf ${robot}: er stellt die Aufzeichnung zusammen. Das dauert Sekunden, höchstens 2 Minuten.`,
    sending: (kib: number, of: number) => `Kommt an: fleetd hat ${kib} von ${of} KiB`,
    done: (file: string) => `Fertig: Ihr Browser speichert sie als ${file}`,
    content: (n: number, kib: number, from: string, to: string) => `${n} Einträge, ${kib} KiB, ${from} bis ${to}`,
    download: 'Noch einmal herunterladen',
    until: (at: string) => `fleetd bewahrt sie bis ${at} auf.`,
    refused: 'Die Aufzeichnung kam nicht an',
    away: (robot: string) => `${robot} ist nicht verbunden`,
    awayHelp:
      'Er kann seine Aufzeichnung senden, wenn er zurück ist; was er bis dahin aufzeichnet, geht nicht verloren. Auf dem Roboter selbst schreibt robotd record export dieselbe Datei.',
  },
  {
    title: (robot) => `Enregistrement de vol de ${robot}`,
    help: 'Le robot enregistre toujours ce qu’il fait, comme la boîte noire d’un avion. Ceci enregistre les dernières minutes dans un fichier sur votre ordinateur. Rien ne commence ni ne change sur le robot.',
    last: 'Durée : les dernières',
    minutes: (n) => (n === 1 ? '1 minute' : `${n} minutes`),
    span: (from, to) => `environ de ${from} à ${to}`,
    file: 'Le fichier',
    what: 'Un fichier .mcap est un enregistrement pour les ingénieurs : ce qui a été demandé au robot et ce qu’il a fait, son état, ses commandes, événements et signaux, chacun avec son heure. Foxglove (foxglove.dev) l’ouvre et le dessine en courbes.',
    people: 'Il peut contenir ce que des gens ont dit au robot. L’audit note qui l’a obtenu.',
    why: 'Raison, pour l’audit',
    get: 'Enregistrer le fichier',
    asked: (robot) =>
      `En attente de ${robot} : il rassemble l’enregistrement de vol. Cela prend quelques secondes, au plus 2 minutes.`,
    sending: (kib, of) => `En route : fleetd a ${kib} Kio sur ${of}`,
    done: (file) => `Prêt : votre navigateur l’enregistre comme ${file}`,
    content: (n, kib, from, to) => `${n} entrées, ${kib} Kio, de ${from} à ${to}`,
    download: 'Télécharger encore',
    until: (at) => `fleetd le garde jusqu’au ${at}.`,
    refused: 'L’enregistrement de vol n’est pas arrivé',
    away: (robot) => `${robot} n’est pas connecté`,
    awayHelp:
      'Il peut envoyer son enregistrement de vol quand il est de retour ; ce qu’il a enregistré jusque-là n’est pas perdu. Sur le robot lui-même, robotd record export écrit le même fichier.',
  },
);

const spans = [1, 10, 60];
const kib = (bytes: number) => Math.ceil(bytes / 1024);
const nameOf = (r: FlightRecord) => `${r.robot}-${r.id}.mcap`;
const fileOf = (r: FlightRecord) => addressOf(`/api/v1/robots/${encodeURIComponent(r.robot)}/records/${r.id}/file`);

/** Saves what the robot recorded in the last minutes: asks the robot for it, and downloads it once it has arrived. */
export function RecordDialog({ onClose }: { onClose: () => void }) {
  const t = useTexts();
  const common = useRobotTexts();
  const { id, stale } = usePage();
  const now = useFleetdNow(10_000);
  const [minutes, setMinutes] = useState(10);
  const [why, setWhy] = useState('');
  const [asked, setAsked] = useState<FlightRecord>();
  const [refused, setRefused] = useState<unknown>();
  const whyNot = useWhyNot('records');
  const body = { last_ms: minutes * 60_000, why: why.trim() || undefined };
  const record = useFlightRecord(id, asked);
  const open = record?.state === 'asked' || record?.state === 'sending';
  useEffect(() => {
    if (record?.state === 'done') window.location.assign(fileOf(record)); // an attachment: the page stays
  }, [record?.id, record?.state]);
  const get = async () => {
    setRefused(undefined);
    setAsked(undefined);
    try {
      setAsked(await data(api.POST('/api/v1/robots/{id}/records', { params: { path: { id } }, body })));
    } catch (thrown) {
      setRefused(thrown);
    }
  };
  return (
    <Modal opened onClose={onClose} title={t.title(id)} size="lg" closeButtonProps={{ 'aria-label': common.close }}>
      <Stack>
        <Text size="sm">{t.help}</Text>
        <Stack gap={4}>
          <Text size="sm" fw={500} id="record-last">
            {t.last}
          </Text>
          <SegmentedControl
            aria-labelledby="record-last"
            value={`${minutes}`}
            disabled={open}
            onChange={(v) => setMinutes(Number(v))}
            data={spans.map((n) => ({ value: `${n}`, label: t.minutes(n) }))}
          />
          <Text size="sm" c="dimmed">
            {t.span(clock(now - minutes * 60_000), clock(now))}
          </Text>
        </Stack>
        <Text size="sm">
          <Text span inherit fw={500}>
            {t.file}:{' '}
          </Text>
          {t.what} {t.people}
        </Text>
        <TextInput
          label={t.why}
          value={why}
          maxLength={256}
          dir="auto"
          onChange={(e) => setWhy(e.currentTarget.value)}
        />
        <div role="status">{record && <HowFar record={record} />}</div>
        {refused !== undefined && <Refused error={refused} />}
        {record?.state === 'failed' && (
          <Alert color="red" role="alert" title={t.refused}>
            <span dir="auto">{record.why}</span>
          </Alert>
        )}
        {stale === 'robot' && !open && (
          <Alert color="gray" icon={<IconPlugConnectedX aria-hidden />} title={t.away(id)}>
            {t.awayHelp}
          </Alert>
        )}
        <Group justify="flex-end">
          <CommandLine lines={[lineOf('ask-record', { path: { id }, body })]} />
          <Button variant="default" onClick={onClose}>
            {common.close}
          </Button>
          <ActionButton variant="filled" whyNot={open ? '' : whyNot} {...(open && { loading: true })} onClick={get}>
            {t.get}
          </ActionButton>
        </Group>
      </Stack>
    </Modal>
  );
}

/** The record as fleetd has it now. */
function useFlightRecord(id: string, asked?: FlightRecord): FlightRecord | undefined {
  const now = useQuery({
    queryKey: ['robot', id, 'record', asked?.id],
    queryFn: () =>
      data(api.GET('/api/v1/robots/{id}/records/{record}', { params: { path: { id, record: asked!.id } } })),
    enabled: !!asked,
    refetchInterval: (q) => (q.state.data?.state === 'done' || q.state.data?.state === 'failed' ? false : 500),
  });
  if (now.isError && asked) return { ...asked, state: 'failed', why: problemOf(now.error).message };
  return now.data ?? asked;
}

function HowFar({ record: r }: { record: FlightRecord }) {
  const t = useTexts();
  if (r.state === 'asked')
    return (
      <Group gap="xs" wrap="nowrap">
        <Loader size="xs" aria-hidden />
        <Text size="sm">{t.asked(r.robot)}</Text>
      </Group>
    );
  if (r.state === 'sending')
    return (
      <Stack gap={4}>
        <Text size="sm">{t.sending(kib(r.bytes), kib(r.size ?? 0))}</Text>
        <Progress value={(100 * r.bytes) / (r.size || 1)} aria-label={t.sending(kib(r.bytes), kib(r.size ?? 0))} />
      </Stack>
    );
  if (r.state !== 'done') return null;
  return (
    <Alert color="green" icon={<IconCheck aria-hidden />} title={t.done(nameOf(r))}>
      <Text size="sm">
        {t.content(r.records ?? 0, kib(r.bytes), dateTime(r.from ?? ''), dateTime(r.to ?? ''))}.{' '}
        {r.expires_at && t.until(dateTime(r.expires_at))}{' '}
        <Anchor href={fileOf(r)} download inherit underline="always">
          {t.download}
        </Anchor>
      </Text>
    </Alert>
  );
}
