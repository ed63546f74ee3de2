import { Button, Group, List, Modal, Stack, Table, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { api } from '../../api/client';
import { lineOf } from '../../api/lines';
import { problemOf } from '../../api/problem';
import { CommandLine } from '../../shell/CommandLine';
import { texts } from '../../text/language';
import { usePage } from './page';
import { change } from './sending';
import { type Desired, type Draft, type Reported, type Setting, valueText } from './settings';
import { useRobotTexts } from './text';

const useTexts = texts(
  {
    title: (robot: string) => `Change the settings of ${robot}`,
    setting: 'Setting',
    now: 'Desired now',
    next: 'Then',
    reported: 'Reported',
    own: "the robot's own",
    restart: 'These are in force after the next start of the robot:',
    why: 'Why (for the audit)',
    apply: 'Apply',
    wrong: 'fleetd refuses this:',
    label: (keys: string) => `settings ${keys}`,
    accepted: 'fleetd keeps them for the robot, which reports when it has applied them',
  },
  {
    title: (robot: string) => `Einstellungen von ${robot} ändern`,
    setting: 'Einstellung',
    now: 'Jetzt verlangt',
    next: 'Dann',
    reported: 'Gemeldet',
    own: 'die des Roboters',
    restart: 'Diese gelten nach dem nächsten Start des Roboters:',
    why: 'Warum (für das Protokoll)',
    apply: 'Anwenden',
    wrong: 'fleetd lehnt das ab:',
    label: (keys: string) => `Einstellungen ${keys}`,
    accepted: 'fleetd bewahrt sie für den Roboter auf; er meldet, wenn er sie angewendet hat',
  },
  {
    title: (robot) => `Changer les réglages de ${robot}`,
    setting: 'Réglage',
    now: 'Voulu maintenant',
    next: 'Ensuite',
    reported: 'Signalé',
    own: 'celui du robot',
    restart: 'Ceux-ci sont en vigueur après le prochain démarrage du robot :',
    why: 'Pourquoi (pour l’audit)',
    apply: 'Appliquer',
    wrong: 'fleetd refuse ceci :',
    label: (keys) => `réglages ${keys}`,
    accepted: 'fleetd les garde pour le robot, qui signale quand il les a appliqués',
  },
);

interface Props {
  draft: Draft;
  desired?: Desired;
  reported?: Reported;
  schemas: Map<string, Setting>;
  onClose: () => void;
  onApplied: () => void;
}

/** What would change, beside what the robot reports. fleetd checks it before it can be applied. */
export function SettingsReview({ draft, desired, reported, schemas, onClose, onApplied }: Props) {
  const t = useTexts();
  const common = useRobotTexts();
  const { id } = usePage();
  const [why, setWhy] = useState('');
  const [busy, setBusy] = useState(false);
  const set = Object.fromEntries([...draft].filter(([, v]) => v !== undefined));
  const unset = [...draft].filter(([, v]) => v === undefined).map(([k]) => k);
  const body = { config: { set, unset }, selector: { ids: [id] }, why: why.trim() || undefined };
  const post = (dry: boolean) => api.POST('/api/v1/desired', { body: { ...body, dry_run: dry } });
  const check = useQuery({
    queryKey: ['check settings', id, JSON.stringify([...draft])],
    queryFn: () => post(true).then(() => true),
    retry: false,
    staleTime: 0,
  });
  const cli = lineOf('desired', { body });
  const apply = async () => {
    setBusy(true);
    const well = await change(
      id,
      t.label([...draft.keys()].join(', ')),
      async () => {
        await post(false);
        return t.accepted;
      },
      cli,
    );
    setBusy(false);
    if (well) onApplied();
  };
  const problem = check.error && problemOf(check.error);
  const restart = [...draft.keys()].filter((k) => schemas.get(k)?.['x-restart']);
  const value = (v: unknown) => (
    <Text size="sm" dir="auto" style={{ overflowWrap: 'anywhere' }} c={v === undefined ? 'dimmed' : undefined}>
      {v === undefined ? t.own : valueText(v)}
    </Text>
  );
  return (
    <Modal opened onClose={onClose} size="lg" title={t.title(id)} closeButtonProps={{ 'aria-label': common.close }}>
      <Stack>
        <Table data-testid="difference" layout="fixed">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t.setting}</Table.Th>
              <Table.Th>{t.now}</Table.Th>
              <Table.Th>{t.next}</Table.Th>
              <Table.Th>{t.reported}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {[...draft].map(([key, next]) => (
              <Table.Tr key={key}>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{key}</Table.Td>
                <Table.Td>{value(desired?.values[key])}</Table.Td>
                <Table.Td>{value(next)}</Table.Td>
                <Table.Td>{value(reported?.applied?.[key])}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        {restart.length > 0 && (
          <Text size="sm">
            {t.restart} {restart.join(', ')}
          </Text>
        )}
        {problem && (
          <Stack gap={2} role="alert">
            <Text size="sm" c="red">
              {t.wrong}
            </Text>
            <List size="sm">
              {(problem.findings.length > 0 ? problem.findings : [problem]).map((f) => {
                const text = 'detail' in f ? f.detail : f.message;
                return (
                  <List.Item key={text} dir="auto">
                    {[text, f.hint].filter(Boolean).join('; ')}
                  </List.Item>
                );
              })}
            </List>
          </Stack>
        )}
        <TextInput
          label={t.why}
          value={why}
          maxLength={256}
          dir="auto"
          onChange={(e) => setWhy(e.currentTarget.value)}
        />
        <Group justify="flex-end">
          <CommandLine lines={[cli]} />
          <Button variant="default" onClick={onClose}>
            {common.cancel}
          </Button>
          <Button loading={busy || check.isPending} disabled={!!problem} onClick={() => void apply()}>
            {t.apply}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
