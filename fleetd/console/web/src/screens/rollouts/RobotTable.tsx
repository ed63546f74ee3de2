import { Button, Card, Group, NativeSelect, Stack, Table, Text, Title } from '@mantine/core';
import { useState } from 'react';

import { line } from '../../api/commandline';
import cards from '../../shell/cards.module.css';
import { CommandLine } from '../../shell/CommandLine';
import { ListState } from '../../shell/ListState';
import { useTermWords } from '../../text/terms';
import { dateTime } from '../../text/time';
import { refusalText } from '../assign/refusal';
import { useAssignTexts } from '../assign/text';
import { useFieldWord } from '../editor/fields/words';
import { robotsOnPage, useRobotsOf } from './api';
import type { Detail, RobotRow, RobotState } from './types';
import { useContentText } from './contentText';
import { RobotLinks } from './Failures';
import { Swatch } from './RobotBar';
import { partOf } from './states';
import { useRolloutsTexts } from './text';
import { useWhyText } from './whyText';

interface Props {
  of: Detail;
  state?: RobotState;
  onState: (s: RobotState | undefined) => void;
}

/** The robots of a rollout, page by page, all or those in one state or wave. */
export function RobotTable({ of: d, state, onState }: Props) {
  const t = useRolloutsTexts();
  const [wave, setWave] = useState('');
  /** The last robot of each page before this one. */
  const [before, setBefore] = useState<string[]>([]);
  const [seen, setSeen] = useState(state);
  // The legend and the failures narrow the table, too: its pages begin anew.
  if (seen !== state) {
    setSeen(state);
    setBefore([]);
  }
  const query = { state, wave: wave || undefined, after: before.at(-1) };
  const list = useRobotsOf(d, query);
  const rows = list.data?.robots ?? [];
  const next = list.data?.next;
  const narrow = (change: () => void) => {
    setBefore([]);
    change();
  };
  const from = before.length * robotsOnPage + 1;
  const words = [state && `--state=${state}`, wave !== '' && `--wave=${wave}`];
  return (
    <Card withBorder component="section" aria-label={t.robots}>
      <Stack gap="sm">
        <Group align="flex-end">
          <Title order={2} size="h4">
            {t.robots}
          </Title>
          <NativeSelect
            ms="auto"
            label={t.state}
            value={state ?? ''}
            onChange={(e) => {
              const s = e.currentTarget.value as RobotState | '';
              narrow(() => onState(s || undefined));
            }}
            data={[
              { value: '', label: t.all },
              ...(Object.keys(t.robotStates) as RobotState[])
                .filter((s) => s === state || d.counts[s])
                .map((s) => ({ value: s, label: `${t.robotStates[s]} (${d.counts[s] ?? 0})` })),
            ]}
          />
          {d.waves.length > 1 && (
            <NativeSelect
              label={t.wave}
              value={wave}
              onChange={(e) => {
                const w = e.currentTarget.value;
                narrow(() => setWave(w));
              }}
              data={[
                { value: '', label: t.all },
                ...d.waves.map((w) => ({ value: `${w.number}`, label: `${w.number + 1}. ${w.name}` })),
              ]}
            />
          )}
          <CommandLine compact lines={[line('rollout', 'robots', d.id, ...words)]} />
        </Group>
        <ListState of={list} rows={rows.length} empty={t.noRobots} />
        {rows.length > 0 && (
          <Table verticalSpacing={5} className={cards.cards} aria-label={t.robots} highlightOnHover>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t.robot}</Table.Th>
                <Table.Th>{t.wave}</Table.Th>
                <Table.Th>{t.state}</Table.Th>
                <Table.Th>{t.phase}</Table.Th>
                <Table.Th>{t.why}</Table.Th>
                <Table.Th>{t.had}</Table.Th>
                <Table.Th>{t.since}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map((r) => (
                <Row key={r.robot} of={r} />
              ))}
            </Table.Tbody>
          </Table>
        )}
        {(next || before.length > 0) && (
          <Group justify="center">
            <Button variant="default" disabled={before.length === 0} onClick={() => setBefore([])}>
              {t.first}
            </Button>
            <Text size="sm">{t.robotsFrom(from, from + rows.length - 1)}</Text>
            <Button variant="default" disabled={!next} onClick={() => next && setBefore([...before, next])}>
              {t.next}
            </Button>
          </Group>
        )}
      </Stack>
    </Card>
  );
}

function Row({ of: r }: { of: RobotRow }) {
  const t = useRolloutsTexts();
  const because = useWhyText();
  const phases: Record<string, string> = useTermWords().DeployPhase;
  const said = useContentText();
  const word = useFieldWord();
  const { actionNumber } = useAssignTexts();
  // What a robot reported when its way back ended says nothing about now: it would wait for its turn for ever.
  const reported = r.state !== 'RESTORED' && r.phase;
  return (
    <Table.Tr data-testid="rollout-robot">
      <Table.Td className={cards.lead}>
        <RobotLinks ids={[r.robot]} />
      </Table.Td>
      <Table.Td className={cards.side}>
        <Text size="sm">{r.wave + 1}</Text>
      </Table.Td>
      <Table.Td>
        <Group gap={6} wrap="nowrap">
          <Swatch part={partOf[r.state]} />
          <Text size="sm">{t.robotStates[r.state]}</Text>
        </Group>
      </Table.Td>
      <Table.Td data-label={t.phase}>{reported && <Text size="sm">{phases[reported] ?? reported}</Text>}</Table.Td>
      <Table.Td maw={420}>
        {r.why && (
          <Text size="sm" dir="auto" lineClamp={3} className="any-text" title={r.why}>
            {refusalText(because(r.why), word, actionNumber)}
          </Text>
        )}
      </Table.Td>
      <Table.Td data-label={t.had}>
        {r.had && (
          <Text size="sm" dir="auto" className="any-text">
            {said(r.had)}
          </Text>
        )}
      </Table.Td>
      <Table.Td data-label={t.since}>{r.changed_at && <Text size="sm">{dateTime(r.changed_at)}</Text>}</Table.Td>
    </Table.Tr>
  );
}
