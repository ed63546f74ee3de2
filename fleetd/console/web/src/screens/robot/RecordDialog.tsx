import { Alert, Anchor, Button, Group, Modal, Progress, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

import { api, data, type Schemas } from '../../api/client';
import { lineOf } from '../../api/lines';
import { problemOf } from '../../api/problem';
import { CommandLine } from '../../shell/CommandLine';
import { texts } from '../../text/language';
import { dateTime } from '../../text/time';
import { usePage } from './page';
import { useRobotTexts } from './text';

type FlightRecord = Schemas['RecordsRecord'];

const useTexts = texts(
  {
    title: (robot: string) => `What ${robot} did`,
    help: 'The robot sends its flight recording to fleetd: its state, what was demanded of it and what it did, commands, events and signals. Foxglove opens the file. It has what people said to the robot; the audit says who got it.',
    last: 'The last',
    minutes: (n: number) => (n === 1 ? '1 minute' : `${n} minutes`),
    why: 'Reason, for the audit',
    get: 'Get the record',
    asked: 'The robot collects it …',
    sending: (kib: number, of: number) => `${kib} of ${of} KiB have arrived at fleetd`,
    done: (n: number, from: string, to: string) => `${n} records, ${from} to ${to}`,
    download: 'Download again',
    until: (at: string) => `fleetd keeps it until ${at}.`,
  },
  {
    title: (robot: string) => `Was ${robot} getan hat`,
    help: 'Der Roboter schickt fleetd seine Flugschreiber-Aufzeichnung: seinen Zustand, was von ihm verlangt wurde und was er tat, Befehle, Ereignisse und Signale. Foxglove öffnet die Datei. Sie enthält, was Menschen zum Roboter sagten; das Audit sagt, wer sie bekam.',
    last: 'Die letzten',
    minutes: (n: number) => (n === 1 ? '1 Minute' : `${n} Minuten`),
    why: 'Grund, für das Audit',
    get: 'Aufzeichnung holen',
    asked: 'Der Roboter stellt sie zusammen …',
    sending: (kib: number, of: number) => `${kib} von ${of} KiB sind bei fleetd angekommen`,
    done: (n: number, from: string, to: string) => `${n} Einträge, ${from} bis ${to}`,
    download: 'Noch einmal herunterladen',
    until: (at: string) => `fleetd bewahrt sie bis ${at} auf.`,
  },
);

const spans = [1, 10, 60];
const kib = (bytes: number) => Math.ceil(bytes / 1024);
const fileOf = (r: FlightRecord) => `/api/v1/robots/${encodeURIComponent(r.robot)}/records/${r.id}/file`;

/** Gets what the robot recorded in the last minutes, and downloads it once it has arrived. */
export function RecordDialog({ onClose }: { onClose: () => void }) {
  const t = useTexts();
  const common = useRobotTexts();
  const { id } = usePage();
  const [minutes, setMinutes] = useState(10);
  const [why, setWhy] = useState('');
  const [asked, setAsked] = useState<FlightRecord>();
  const [refused, setRefused] = useState('');
  const body = { last_ms: minutes * 60_000, why: why.trim() || undefined };
  const record = useFlightRecord(id, asked);
  const open = record?.state === 'asked' || record?.state === 'sending';
  useEffect(() => {
    if (record?.state === 'done') window.location.assign(fileOf(record)); // an attachment: the page stays
  }, [record?.id, record?.state]);
  const get = async () => {
    setRefused('');
    setAsked(undefined);
    try {
      setAsked(await data(api.POST('/api/v1/robots/{id}/records', { params: { path: { id } }, body })));
    } catch (thrown) {
      const p = problemOf(thrown);
      setRefused([p.message, p.hint].filter(Boolean).join('; '));
    }
  };
  return (
    <Modal opened onClose={onClose} title={t.title(id)} closeButtonProps={{ 'aria-label': common.close }}>
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
        </Stack>
        <TextInput
          label={t.why}
          value={why}
          maxLength={256}
          dir="auto"
          onChange={(e) => setWhy(e.currentTarget.value)}
        />
        <div role="status">{record && <HowFar record={record} />}</div>
        {(refused || record?.state === 'failed') && (
          <Alert color="red" role="alert">
            {refused || record?.why}
          </Alert>
        )}
        <Group justify="space-between">
          <CommandLine lines={[lineOf('ask-record', { path: { id }, body })]} />
          <Button loading={open} onClick={() => void get()} data-autofocus>
            {t.get}
          </Button>
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
  if (r.state === 'asked') return <Text size="sm">{t.asked}</Text>;
  if (r.state === 'sending')
    return (
      <Stack gap={4}>
        <Text size="sm">{t.sending(kib(r.bytes), kib(r.size ?? 0))}</Text>
        <Progress value={(100 * r.bytes) / (r.size || 1)} aria-label={t.sending(kib(r.bytes), kib(r.size ?? 0))} />
      </Stack>
    );
  if (r.state !== 'done') return null;
  return (
    <Text size="sm">
      {t.done(r.records ?? 0, dateTime(r.from ?? ''), dateTime(r.to ?? ''))}.{' '}
      {r.expires_at && t.until(dateTime(r.expires_at))}{' '}
      <Anchor href={fileOf(r)} download>
        {t.download}
      </Anchor>
    </Text>
  );
}
