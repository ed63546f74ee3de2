import { Anchor, Button, Stack, Table, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { Link } from 'react-router';

import { line } from '../../api/commandline';
import { useMay } from '../../api/me';
import cards from '../../shell/cards.module.css';
import { CommandLine } from '../../shell/CommandLine';
import { FilterChoice, FilterRow, FilterText } from '../../shell/Filter';
import { ListState } from '../../shell/ListState';
import { ScreenHead } from '../../shell/ScreenHead';
import { useFilter } from '../../shell/useFilter';
import { dateTime } from '../../text/time';
import { useRollouts } from './api';
import type { Summary } from './types';
import { useContentText } from './contentText';
import { RobotBar, StateBadge } from './RobotBar';
import { openFirst, wavesText } from './states';
import { useRolloutsTexts } from './text';
import { useWhyText } from './whyText';
import { whomText } from './whomText';

/** Every content that is or was on its way to robots: the open rollouts first. */
export default function Rollouts() {
  const t = useRolloutsTexts();
  const may = useMay('assign');
  const filter = useFilter(['robot', 'state'] as const);
  const [set] = useDebouncedValue(filter.set, 250);
  const list = useRollouts(set);
  // The newest ones may lack an old rollout that is still open.
  const open = useRollouts(set.state ? set : { ...set, state: 'open' });
  const newest = list.data?.rollouts ?? [];
  const older = (open.data?.rollouts ?? []).filter((r) => !newest.some((n) => n.id === r.id));
  const rows = openFirst(set.state ? newest : [...newest, ...older]);
  const words = Object.entries(set).map(([k, v]) => `--${k}=${v}`);
  return (
    <Stack>
      <ScreenHead title={t.title} about={t.about}>
        <Button component={Link} to="/assign?how=waves">
          {t.new}
        </Button>
      </ScreenHead>
      <FilterRow of={filter}>
        <FilterText of={filter} name="robot" label={t.robot} first />
        <FilterChoice of={filter} name="state" label={t.state} values={{ open: t.open, ...t.states }} />
        <CommandLine compact lines={[line('rollout', 'list', ...words)]} />
      </FilterRow>
      <ListState
        of={list}
        rows={rows.length}
        empty={t.empty}
        first={may && words.length === 0 ? '/assign?how=waves' : undefined}
      />
      {rows.length > 0 && (
        <Table verticalSpacing="xs" highlightOnHover className={cards.cards} aria-label={t.title}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t.content}</Table.Th>
              <Table.Th>{t.state}</Table.Th>
              <Table.Th w="28%">{t.progress}</Table.Th>
              <Table.Th>{t.robots}</Table.Th>
              <Table.Th>{t.who}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((r) => (
              <Row key={r.id} of={r} />
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Stack>
  );
}

function Row({ of: r }: { of: Summary }) {
  const t = useRolloutsTexts();
  const said = useContentText()(r.content);
  const because = useWhyText();
  const named = r.name && r.name !== r.content;
  const why = r.waits || r.why;
  return (
    <Table.Tr data-testid="rollout">
      <Table.Td className={cards.lead}>
        <Anchor component={Link} to={`/rollouts/${encodeURIComponent(r.id)}`} size="sm" fw={500} className="any-text">
          <span dir="auto">{named ? r.name : said}</span>
        </Anchor>
        <Text size="xs" c="dimmed" dir="auto" className="any-text">
          {named && `${said}; `}
          {t.causes[r.cause]}
          {r.cause_id && ` ${r.cause_id}`}
        </Text>
      </Table.Td>
      <Table.Td className={cards.side}>
        <StateBadge of={r.state} />
      </Table.Td>
      <Table.Td>
        <RobotBar small counts={r.counts} total={r.total} />
        <Text size="xs" c="dimmed" dir="auto" lineClamp={2} className="any-text">
          {wavesText(r, t)}
          {r.state !== 'SUCCEEDED' && why && ` – ${because(why)}`}
        </Text>
      </Table.Td>
      <Table.Td data-label={t.robots}>
        <Text size="sm">{r.total}</Text>
        {r.selector && (
          <Text size="xs" c="dimmed" lineClamp={2} className="any-text" title={r.selector} data-testid="rollout-whom">
            {whomText(r.selector, t.everyone)}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Text size="sm" dir="auto" className="any-text">
          {r.created_by || t.fleetd}
        </Text>
        <Text size="xs" c="dimmed" className="instant">
          {dateTime(r.created_at)}
        </Text>
      </Table.Td>
    </Table.Tr>
  );
}
