import { Anchor, Badge, Button, Group, Stack, Table, Text } from '@mantine/core';
import { Link } from 'react-router';

import { line } from '../../api/commandline';
import { useMay } from '../../api/me';
import cards from '../../shell/cards.module.css';
import { CommandLine } from '../../shell/CommandLine';
import { ListState } from '../../shell/ListState';
import { ScreenHead } from '../../shell/ScreenHead';
import { ScreenTabs } from '../../shell/ScreenTabs';
import { dateTime } from '../../text/time';
import { useRuns, useSchedules } from './api';
import type { Run, Schedule } from './types';
import { Calendar } from './Calendar';
import { useSchedulesTexts } from './text';
import { useActionText, useTimesText } from './words';

const parts = { list: List, calendar: Calendar, runs: Runs };

/** What happens by itself at its time. The address has the part that is open. */
export default function Schedules() {
  const t = useSchedulesTexts();
  return (
    <Stack>
      <ScreenHead title={t.title} about={t.about}>
        <Button component={Link} to="/schedules/new">
          {t.new}
        </Button>
      </ScreenHead>
      <ScreenTabs label={t.title} parts={parts} titles={t.tabs} />
    </Stack>
  );
}

const outcomeColor: Record<Run['outcome'], string> = { done: 'green', missed: 'yellow', failed: 'red' };

/** What became of an instant, in a word and a colour. */
function Outcome({ of }: { of: Run['outcome'] }) {
  const t = useSchedulesTexts();
  return (
    <Badge variant="dot" tt="none" miw="max-content" color={outcomeColor[of]}>
      {t.outcomes[of]}
    </Badge>
  );
}

function List() {
  const t = useSchedulesTexts();
  const list = useSchedules();
  const rows = list.data ?? [];
  const may = useMay('assign', 'command', 'manual');
  return (
    <Stack>
      <Group justify="flex-end">
        <CommandLine compact lines={[line('schedule', 'list')]} />
      </Group>
      <ListState of={list} rows={rows.length} empty={t.empty} first={may ? '/schedules/new' : undefined} />
      {rows.length > 0 && (
        <Table verticalSpacing="xs" highlightOnHover className={cards.cards} aria-label={t.title}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t.name}</Table.Th>
              <Table.Th>{t.what}</Table.Th>
              <Table.Th>{t.when}</Table.Th>
              <Table.Th>{t.next}</Table.Th>
              <Table.Th>{t.last}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((s) => (
              <Row key={s.id} of={s} />
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Stack>
  );
}

function Row({ of: s }: { of: Schedule }) {
  const t = useSchedulesTexts();
  const action = useActionText();
  const times = useTimesText();
  const off = s.enabled === false;
  return (
    <Table.Tr data-testid="schedule" className={off ? 'old' : undefined}>
      <Table.Td className={cards.lead}>
        <Anchor component={Link} to={`/schedules/${encodeURIComponent(s.id)}`} size="sm" fw={500}>
          {s.id}
        </Anchor>
        {(s.site_of || s.owner) && (
          <Text size="xs" c="dimmed" dir="auto" className="any-text">
            {s.site_of ? t.ofCalendar(s.site_of) : t.fromFolder(s.owner!)}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Text size="sm" dir="auto" className="any-text">
          {action(s.action)}
        </Text>
      </Table.Td>
      <Table.Td>
        <Text size="sm" className="any-text">
          {times(s)}
        </Text>
      </Table.Td>
      <Table.Td data-label={t.next}>
        <Text size="sm" className="instant">
          {off ? t.off : s.next_at ? dateTime(s.next_at) : t.never}
        </Text>
      </Table.Td>
      <Table.Td>
        {s.last ? (
          <>
            <Outcome of={s.last.outcome} />
            <Text size="xs" c="dimmed" className="instant">
              {dateTime(s.last.instant)}
            </Text>
            {s.last.why && (
              <Text size="xs" dir="auto" lineClamp={2} className="any-text">
                {s.last.why}
              </Text>
            )}
          </>
        ) : (
          <Text size="sm" c="dimmed">
            {t.notYet}
          </Text>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

function Runs() {
  const t = useSchedulesTexts();
  const list = useRuns(100);
  const rows = list.data ?? [];
  return (
    <Stack>
      <Group justify="flex-end">
        <CommandLine compact lines={[line('schedule', 'runs')]} />
      </Group>
      <ListState of={list} rows={rows.length} empty={t.noRuns} />
      {rows.length > 0 && (
        <Table verticalSpacing="xs" className={cards.cards} aria-label={t.tabs.runs}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t.instant}</Table.Th>
              <Table.Th>{t.name}</Table.Th>
              <Table.Th>{t.last}</Table.Th>
              <Table.Th>{t.why}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((r) => (
              <Table.Tr key={r.schedule + r.instant} data-testid="run">
                <Table.Td className={cards.side}>
                  <Text size="sm" className="instant">
                    {dateTime(r.instant)}
                  </Text>
                </Table.Td>
                <Table.Td className={cards.lead}>
                  <Anchor component={Link} to={`/schedules/${encodeURIComponent(r.schedule)}`} size="sm">
                    {r.schedule}
                  </Anchor>
                </Table.Td>
                <Table.Td>
                  <Outcome of={r.outcome} />
                </Table.Td>
                <Table.Td>
                  <Text size="sm" dir="auto" lineClamp={3} className="any-text">
                    {[t.robotsN(r.robots), r.why].filter(Boolean).join('; ')}
                  </Text>
                  {r.rollout && (
                    <Anchor component={Link} to={`/rollouts/${encodeURIComponent(r.rollout)}`} size="sm">
                      {t.toRollout}
                    </Anchor>
                  )}
                  {r.batch && (
                    <Anchor component={Link} to={`/commands?batch=${encodeURIComponent(r.batch)}`} size="sm">
                      {t.toCommands}
                    </Anchor>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Stack>
  );
}
