import { Badge, Button, Group, Stack, Table, Text, Tooltip } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Fragment, useState } from 'react';

import { api, data } from '../../api/client';
import { useMay } from '../../api/me';
import { RobotName } from '../../live/RobotName';
import cards from '../../shell/cards.module.css';
import { FilterChoice, FilterRow, FilterText } from '../../shell/Filter';
import { ListState } from '../../shell/ListState';
import { ScreenHead } from '../../shell/ScreenHead';
import { useScope } from '../../shell/scope';
import { useFilter } from '../../shell/useFilter';
import { aboutAnswer } from '../../text/answers';
import { reasonText, useReasonTexts } from '../../text/reasons';
import { dateTime } from '../../text/time';
import { useVerbWords } from '../../text/verbs';
import { CancelDialog } from './CancelDialog';
import { names } from '../events/groups';
import { becauseOf, type Command, groupOf, inProgress, notCarriedOut, presses, stateColor } from './states';
import { useCommandsTexts } from './text';

const page = 100;

/** A reason for a button. */
const shortened = (text: string) => (text.length > 120 ? `${text.slice(0, 119).trimEnd()}…` : text);

/** What was sent to robots, by whom, and how each answered. */
export default function Commands() {
  const t = useCommandsTexts();
  const filter = useFilter(['robot', 'state', 'batch', 'reason'] as const);
  const [limit, setLimit] = useState(page);
  const [cancelling, setCancelling] = useState<Command>();
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (batch: string) =>
    setOpen((all) => (all.has(batch) ? new Set([...all].filter((b) => b !== batch)) : new Set([...all, batch])));
  const { reason } = filter.set;
  const [{ reason: _, ...query }] = useDebouncedValue(filter.set, 250);
  const site = useScope((s) => s.site);
  const list = useQuery({
    queryKey: ['commands', query, site, limit],
    queryFn: ({ signal }) =>
      data(
        api.GET('/api/v1/commands', {
          params: { query: { ...query, ...(site ? { site } : {}), limit } as never },
          signal,
        }),
      ),
    refetchInterval: 2000,
    placeholderData: keepPreviousData,
  });
  const all = list.data?.commands ?? [];
  const reasons = useReasonTexts();
  const groups = notCarriedOut(all);
  const shown = reason ? all.filter((c) => groupOf(c) === reason) : all;
  return (
    <Stack>
      <ScreenHead title={t.title} about={t.about} />
      <FilterRow of={filter}>
        <FilterText of={filter} name="robot" label={t.robot} first />
        <FilterChoice of={filter} name="state" label={t.state} values={t.states} />
      </FilterRow>
      {groups.length > 0 && (
        <Stack gap={6} component="section" aria-label={t.refused}>
          <Text fw={500} size="sm">
            {t.refused}
          </Text>
          <Text size="xs" c="dimmed">
            {t.refusedHelp}
          </Text>
          <Group gap="xs">
            {groups.slice(0, 8).map((g) => (
              <Button
                key={g.reason}
                size="compact-sm"
                className="long-button"
                variant={reason === g.reason ? 'filled' : 'default'}
                aria-pressed={reason === g.reason}
                onClick={() => filter.put('reason', reason === g.reason ? '' : g.reason)}
              >
                <span dir="auto">
                  {shortened(reasonText(reasons, g.code, g.text))} ({t.times(g.count)})
                </span>
              </Button>
            ))}
          </Group>
        </Stack>
      )}
      <ListState of={list} rows={shown.length} empty={t.empty} />
      {shown.length > 0 && (
        <Table.ScrollContainer minWidth={280} type="native">
          <Table verticalSpacing={6} highlightOnHover className={cards.cards}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t.at}</Table.Th>
                <Table.Th>{t.robot}</Table.Th>
                <Table.Th>{t.command}</Table.Th>
                <Table.Th>{t.who}</Table.Th>
                <Table.Th>{t.why}</Table.Th>
                <Table.Th>{t.state}</Table.Th>
                <Table.Th visibleFrom="lg">{t.result}</Table.Th>
                <Table.Th>
                  <span className="visually-hidden">{t.cancel}</span>
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {presses(shown).map((g) => (
                <Fragment key={g[0]!.id}>
                  {g.length > 1 && (
                    <PressRow of={g} open={open.has(g[0]!.batch!)} onToggle={() => toggle(g[0]!.batch!)} />
                  )}
                  {(g.length === 1 || open.has(g[0]!.batch!)) &&
                    g.map((c) => <CommandRow key={c.id} of={c} onCancel={() => setCancelling(c)} />)}
                </Fragment>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {all.length >= limit && limit < 1000 && (
        <Group justify="center">
          <Button variant="default" onClick={() => setLimit((n) => Math.min(1000, n + page))}>
            {t.more}
          </Button>
        </Group>
      )}
      {cancelling && <CancelDialog command={cancelling} onClose={() => setCancelling(undefined)} />}
    </Stack>
  );
}

/** One command, and how it ended. */
function CommandRow({ of: c, onCancel }: { of: Command; onCancel: () => void }) {
  const t = useCommandsTexts();
  const may = useMay('command', 'manual', 'stop');
  const reasons = useReasonTexts();
  const because = reasonText(reasons, c.answer?.reason, becauseOf(c), aboutAnswer(c.answer));
  return (
    <Table.Tr>
      <Table.Td className={cards.side}>
        <Text size="sm" className="instant">
          {c.at && dateTime(c.at)}
        </Text>
      </Table.Td>
      <Table.Td className={cards.lead}>
        <RobotName id={c.robot} link fw={400} />
      </Table.Td>
      <Asked of={c} />
      <Table.Td>
        <Badge variant="dot" tt="none" miw="max-content" color={stateColor[c.state ?? ''] ?? 'gray'} title={c.state}>
          {t.states[c.state as keyof typeof t.states] ?? c.state}
        </Badge>
        {because && (
          <Text size="xs" dir="auto" hiddenFrom="lg" className="any-text">
            {because}
          </Text>
        )}
      </Table.Td>
      <Table.Td visibleFrom="lg" maw={320}>
        <Text size="sm" dir="auto" lineClamp={3} className="any-text" title={c.because}>
          {because}
        </Text>
      </Table.Td>
      <Table.Td>
        {inProgress(c) && (
          <Tooltip label={t.notMay} disabled={may}>
            <Button
              size="compact-sm"
              variant="default"
              data-disabled={!may || undefined}
              aria-disabled={!may}
              aria-label={t.cancelOne(c.verb, c.robot)}
              onClick={() => may && onCancel()}
            >
              {t.cancel}
            </Button>
          </Tooltip>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

/** The commands of one press of a button, with how they ended, in one line that opens. */
function PressRow({ of, open, onToggle }: { of: Command[]; open: boolean; onToggle: () => void }) {
  const t = useCommandsTexts();
  const first = of[0]!;
  const done = of.filter((c) => c.state === 'SUCCEEDED').length;
  const running = of.some(inProgress);
  const reasons = useReasonTexts();
  const because = [
    ...new Set(
      of.flatMap((c) =>
        c.state !== 'SUCCEEDED' && c.because
          ? [reasonText(reasons, c.answer?.reason, c.because, aboutAnswer(c.answer))]
          : [],
      ),
    ),
  ];
  return (
    <Table.Tr data-testid="press">
      <Table.Td className={cards.side}>
        <Text size="sm" className="instant">
          {first.at && dateTime(first.at)}
        </Text>
      </Table.Td>
      <Table.Td className={cards.lead}>
        <Text size="sm" dir="auto" className="any-text">
          {names(of.map((c) => c.robot))}
        </Text>
      </Table.Td>
      <Asked of={first} />
      <Table.Td>
        <Badge
          variant="dot"
          tt="none"
          miw="max-content"
          color={done === of.length ? 'green' : running ? 'blue' : 'orange'}
        >
          {t.doneBy(done, of.length)}
        </Badge>
        {because.length > 0 && (
          <Text size="xs" dir="auto" hiddenFrom="lg" className="any-text">
            {because.join('; ')}
          </Text>
        )}
      </Table.Td>
      <Table.Td visibleFrom="lg" maw={320}>
        <Text size="sm" dir="auto" lineClamp={3} className="any-text">
          {because.join('; ')}
        </Text>
      </Table.Td>
      <Table.Td>
        <Button size="compact-sm" variant="default" aria-expanded={open} onClick={onToggle}>
          {open ? t.hideEach : t.showEach(of.length)}
        </Button>
      </Table.Td>
    </Table.Tr>
  );
}

/** The cells that say what was asked, by whom and why. */
function Asked({ of: c }: { of: Command }) {
  const t = useCommandsTexts();
  const verbs: Record<string, string> = useVerbWords();
  return (
    <>
      <Table.Td>
        <Text size="sm" title={c.verb}>
          {verbs[c.verb] ?? c.verb}
        </Text>
      </Table.Td>
      <Table.Td data-label={t.who} miw={80}>
        <Text size="sm" dir="auto" className="any-text">
          {c.by || c.principal}
        </Text>
      </Table.Td>
      <Table.Td maw={240} data-label={t.why}>
        {c.why && (
          <Text size="sm" dir="auto" lineClamp={3} className="any-text">
            {c.why}
          </Text>
        )}
      </Table.Td>
    </>
  );
}
