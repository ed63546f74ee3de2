import { Alert, Badge, Button, Checkbox, Group, Modal, Select, Stack, Table, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';

import { lineOf } from '../../api/lines';
import { CommandLine } from '../../shell/CommandLine';
import { formatOf, type Import, importFile, mapsOf, useRefresh } from './api';
import { FileInput } from './FileInput';
import { useImportTexts } from './importText';
import { Refused } from '../../shell/Refused';

/** Fields that a column of a list may be; those with parts take any part. */
const listFields = [
  'story',
  'activity',
  'act',
  'order',
  'name.en',
  'name.de',
  'repeat',
  'languages',
  'on_act_error',
  'shutdown',
  'on_resume',
  'finish_before_pause',
  'nature',
  'launch.when',
  'launch.for',
  'launch.cooldown',
];
const actFields = [
  'type',
  'start_ms',
  'end_ms',
  'timeout_ms',
  'text.en',
  'text.de',
  'sound',
  'face',
  'motion',
  'point',
  'view',
  'image',
  'colour',
  'pattern',
  'volume',
  'yaw_rad',
  'pitch_rad',
  'unit',
  'id',
  'action.act',
  'action.method',
  'method',
];
const ignore = ' ';

/** Imports a file: a dry run first, with every problem at its place, then all or nothing, unless asked for what is right. */
export function ImportDialog({ onClose }: { onClose: () => void }) {
  const t = useImportTexts();
  const refresh = useRefresh();
  const [file, setFile] = useState<File>();
  const [mapped, setMapped] = useState<Record<string, string>>({});
  const [plan, setPlan] = useState<Import>();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const [skipWrong, setSkipWrong] = useState(false);

  const ask = async (f: File, map: Record<string, string>, dry: boolean) => {
    setFile(f);
    setMapped(map);
    setBusy(true);
    setError(undefined);
    try {
      const done = await importFile(f, map, { dry, skipWrong: dry || skipWrong });
      if (dry) {
        setPlan(done);
        setSkipWrong(false);
      } else {
        notifications.show({ color: 'green', message: t.done(changes(done)) });
        await refresh();
        onClose();
      }
    } catch (thrown) {
      setError(thrown);
    }
    setBusy(false);
  };
  const wrong = plan?.problems?.some((p) => p.severity === 'error') ?? false;
  const count = plan ? changes(plan) : 0;
  const skips = skipWrong && plan?.skips === true;
  return (
    <Modal opened onClose={onClose} size="xl" title={t.title} closeButtonProps={{ 'aria-label': t.close }}>
      <Stack>
        {!plan && (
          <>
            <Text size="sm">{t.about}</Text>
            <Text size="sm" c="dimmed">
              {t.listHelp}
            </Text>
          </>
        )}
        <FileInput
          accept=".yaml,.yml,.json,.csv,.zip"
          label={t.drop}
          button={t.choose}
          name={file?.name}
          disabled={busy}
          onFiles={([f]) => f && void ask(f, {}, true)}
        />
        <Text size="sm" role="status">
          {busy
            ? t.reading
            : plan
              ? [plan.rows ? t.rows(plan.rows) : '', t.entries(plan.entries?.length ?? 0)].filter(Boolean).join(', ')
              : ''}
        </Text>
        {error !== undefined && <Refused error={error} />}
        {plan && file && (
          <>
            <Columns
              plan={plan}
              mapped={mapped}
              onMap={(header, field) => void ask(file, { ...mapped, [header]: field }, true)}
            />
            <Problems plan={plan} />
            <Entries plan={plan} wrong={wrong && !skips} />
            {(plan.assets?.length ?? 0) > 0 && <Text size="sm">{t.assets(plan.assets!.join(', '))}</Text>}
            {wrong && !skips && <Alert color="red">{unmapped(plan) ? t.blockedColumns : t.blocked}</Alert>}
            {wrong && plan.skips && (
              <Checkbox
                label={t.skipWrong(count, (plan.entries ?? []).filter((e) => e.errors > 0).length)}
                checked={skipWrong}
                onChange={(e) => setSkipWrong(e.currentTarget.checked)}
              />
            )}
            {(!wrong || skips) && count === 0 && <Alert color="blue">{t.nothing}</Alert>}
          </>
        )}
        <Group justify="flex-end">
          {file && (
            <CommandLine
              lines={[
                lineOf('import-library', {
                  file: file.name,
                  query: { format: formatOf(file.name), map: mapsOf(mapped), skip_wrong: skipWrong },
                }),
              ]}
            />
          )}
          <Button variant="default" onClick={onClose}>
            {t.cancel}
          </Button>
          <Button
            loading={busy}
            disabled={!plan || (wrong && !skips) || !file}
            onClick={() => void ask(file!, mapped, false)}
          >
            {t.submit}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** Whether an author can correct it here by saying what a column is. */
const unmapped = (plan: Import) =>
  (plan.problems ?? []).some((p) => p.code === 'unknown_column' || p.code === 'no_list');

const changes = (plan: Import) => (plan.entries ?? []).filter((e) => !e.unchanged && e.errors === 0).length;

/** What each column of a list is; a column that fleetd does not know is mapped here. */
function Columns({
  plan,
  mapped,
  onMap,
}: {
  plan: Import;
  mapped: Record<string, string>;
  onMap: (header: string, field: string) => void;
}) {
  const t = useImportTexts();
  const unknown = new Set(
    (plan.problems ?? []).filter((p) => p.code === 'unknown_column' || p.code === 'no_list').map((p) => p.cell),
  );
  const none = (plan.problems ?? []).some((p) => p.code === 'no_list');
  const shown = (plan.columns ?? []).filter((c) => none || unknown.has(c.header) || c.header in mapped);
  if (shown.length === 0) return null;
  const known = [...listFields, ...actFields];
  return (
    <Table>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t.column}</Table.Th>
          <Table.Th>{t.field}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {shown.map((c) => (
          <Table.Tr key={c.header}>
            <Table.Td dir="auto">{c.header}</Table.Td>
            <Table.Td>
              <Select
                size="xs"
                searchable
                aria-label={`${t.field}: ${c.header}`}
                placeholder={t.unknown}
                value={
                  c.header in mapped && mapped[c.header] === ''
                    ? ignore
                    : known.includes(c.field ?? '')
                      ? c.field!
                      : null
                }
                data={[{ value: ignore, label: t.ignore }, ...known.map((f) => ({ value: f, label: f }))]}
                onChange={(f) => f && onMap(c.header, f.trim())}
              />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function Problems({ plan }: { plan: Import }) {
  const t = useImportTexts();
  const problems = plan.problems ?? [];
  if (problems.length === 0) return null;
  const place = (p: (typeof problems)[number]) =>
    [
      p.file,
      p.row ? t.row(p.row) : p.line && t.line(p.line),
      p.cell || p.pointer.split('/').findLast((part) => part !== '' && Number.isNaN(Number(part))),
    ]
      .filter(Boolean)
      .join(', ');
  const placed = problems.some((p) => place(p) !== '');
  return (
    <Table>
      <Table.Thead>
        <Table.Tr>
          {placed && <Table.Th>{t.place}</Table.Th>}
          <Table.Th>{t.problem}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {problems.slice(0, 100).map((p, n) => (
          <Table.Tr key={n}>
            {placed && <Table.Td dir="auto">{place(p)}</Table.Td>}
            <Table.Td>
              <Badge mr={6} variant="light" color={p.severity === 'error' ? 'red' : 'yellow'} tt="none">
                {p.severity === 'error' ? t.error : t.warning}
              </Badge>
              <span dir="auto">
                {p.detail}
                {p.hint ? `; ${p.hint}` : ''}
              </span>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function Entries({ plan, wrong }: { plan: Import; wrong: boolean }) {
  const t = useImportTexts();
  if (!plan.entries?.length) return null;
  return (
    <Table>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t.what}</Table.Th>
          <Table.Th>{t.state}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {plan.entries.slice(0, 200).map((e, n) => (
          <Table.Tr key={n}>
            <Table.Td dir="auto">
              {e.kind} {e.id}
              <Text size="xs" c="dimmed">
                {[e.file, e.row && t.row(e.row)].filter(Boolean).join(', ')}
              </Text>
            </Table.Td>
            <Table.Td>
              {e.errors > 0
                ? t.errors(e.errors)
                : wrong
                  ? t.valid
                  : e.unchanged
                    ? t.unchanged
                    : e.new
                      ? t.isNew
                      : t.changed}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
