import { Alert, Badge, Button, Group, Loader, Select, Stack, Text, Title } from '@mantine/core';
import { useLocalStorage, useMediaQuery } from '@mantine/hooks';
import { IconRefresh, IconWifiOff } from '@tabler/icons-react';
import { useTable } from '@tanstack/react-table';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Link } from 'react-router';

import type { Robot } from '../../api/client';
import { useLive } from '../../live/stream';
import { chosenDensity } from '../../shell/density';
import { useScope } from '../../shell/scope';
import { selectorIn, whatIn } from '../assign/address';
import { useNameOf } from '../library/api';
import { useAddress } from './address';
import { BulkButtons } from './BulkButtons';
import { type ColumnID, columnIDs, columns, features, hiddenAtFirst } from './columns';
import { everything, isEmpty } from './filter';
import { FilterBar } from './FilterBar';
import { useKeys } from './keys';
import { useList } from './list';
import type { SortColumn, Sorting } from './order';
import classes from './robots.module.css';
import { RobotCards } from './RobotCards';
import { RobotDrawer } from './RobotDrawer';
import type { Reading } from './reading';
import { RobotTable } from './RobotTable';
import { selected, useSelection } from './selection';
import { useRobotsTexts } from './text';
import { ColumnChooser, Views } from './Views';

const noData: Robot[] = [];

/** The list of robots: live, filtered, problems first, with actions for what is selected. */
export default function Robots() {
  const t = useRobotsTexts();
  const { filter: own, sorting, show, query, assignment } = useAddress();
  const site = useScope((s) => s.site);
  const connection = useLive((s) => s.connection);
  const wide = useMediaQuery('(min-width: 48em)', true, { getInitialValueInEffect: false });
  const [compact, setCompact] = useLocalStorage({
    key: 'troupe.robots.compact',
    defaultValue: chosenDensity() === 'compact',
  });
  const [visibility, setVisibility] = useLocalStorage<Record<string, boolean>>({
    key: 'troupe.robots.columns',
    defaultValue: hiddenAtFirst as Record<string, boolean>,
  });

  const filter = useMemo(
    () =>
      site ? { ...own, labels: [...own.labels.filter((l) => l.key !== 'site'), { key: 'site', value: site }] } : own,
    [own, site],
  );
  const table = useTable({
    features,
    columns,
    data: noData,
    state: { columnVisibility: visibility },
    onColumnVisibilityChange: (next) => setVisibility(typeof next === 'function' ? next(visibility) : next),
  });
  const shown = useMemo(() => columnIDs.filter((c) => table.getColumn(c)?.getIsVisible() ?? true), [visibility, table]);

  const selection = useSelection();
  const anySelected = selection.ids.size > 0 || !!selection.filter;
  const [reading, setReading] = useState<Reading>();
  const [open, setOpen] = useState<string>();
  const list = useList(filter, sorting, reading !== undefined || anySelected || open !== undefined);
  useEffect(() => {
    selectorIn(new URLSearchParams(assignment))?.ids?.forEach(selection.toggle);
    return selection.clear;
  }, []);
  // Another filter is another selection.
  useEffect(() => {
    if (useSelection.getState().filter) selection.clear();
  }, [filter]);

  const bar = useRef<HTMLDivElement>(null);
  const active = useKeys(list.ids, setOpen, bar);
  const onOpen = useCallback((id: string) => setOpen(id), []);

  const selector = selected(selection);
  const name = selection.filter
    ? t.selectedAll(list.matching)
    : selection.ids.size <= 5
      ? [...selection.ids].join(', ')
      : t.selectedSome(selection.ids.size);
  return (
    <Stack gap="sm" style={{ '--below': anySelected ? '130px' : '0px' } as React.CSSProperties}>
      <Group justify="space-between">
        <Group gap="sm">
          <Title order={1} size="h2">
            {t.title}
          </Title>
          <Badge
            variant="light"
            color="gray"
            size="lg"
            tt="none"
            aria-label={t.countLabel(list.matching, list.total)}
            data-testid="count"
          >
            {t.count(list.matching, list.total)}
          </Badge>
          {list.moved > 0 && reading !== 'touch' && (
            <Button
              size="compact-sm"
              variant="light"
              leftSection={<IconRefresh size={14} aria-hidden />}
              onClick={list.refresh}
              data-testid="would-move"
            >
              {t.wouldMove(list.moved)} · {t.refreshOrder}
            </Button>
          )}
        </Group>
        <Group gap="xs">
          {!isEmpty(own) && list.matching > 0 && !selection.filter && (
            <Button variant="light" onClick={() => selection.all(filter)}>
              {t.selectAll(list.matching)}
            </Button>
          )}
          {isEmpty(own) && list.total > 0 && !selection.filter && (
            <Button variant="default" onClick={() => selection.all(filter)}>
              {t.selectAll(list.matching)}
            </Button>
          )}
          <Views query={query} />
          {wide ? (
            <ColumnChooser
              shown={(c) => shown.includes(c)}
              onToggle={(c, on) => table.getColumn(c)?.toggleVisibility(on)}
              compact={compact}
              onCompact={setCompact}
            />
          ) : (
            <SortSelect sorting={sorting} onSort={(s) => show(own, s)} />
          )}
        </Group>
      </Group>
      {assignment && <Assigning of={assignment} />}
      <FilterBar filter={own} siteIsChosen={site !== ''} known={list.total > 0} onChange={(f) => show(f, sorting)} />
      {connection === 'lost' && <Alert color="red" p="xs" icon={<IconWifiOff aria-hidden />} title={t.stale} />}
      <State
        total={list.total}
        matching={list.ids.length}
        connection={connection}
        onClear={() => show({ ...everything }, sorting)}
      />
      {list.ids.length > 0 && (
        <div className={connection === 'live' ? undefined : 'stale'}>
          {wide ? (
            <RobotTable
              ids={list.ids}
              columns={shown}
              compact={compact}
              sorting={sorting}
              onSort={(s) => show(own, s)}
              active={active}
              onOpen={onOpen}
              onReading={setReading}
            />
          ) : (
            <RobotCards ids={list.ids} onOpen={onOpen} onReading={setReading} />
          )}
        </div>
      )}
      {anySelected && selector && (
        <div className={classes.bulk} role="region" aria-label={t.actions} data-testid="bulk">
          <Stack gap={6}>
            <Group gap="sm">
              <Text fw={500} size="sm" aria-live="polite">
                {selection.filter ? t.selectedAll(list.matching) : t.selectedSome(selection.ids.size)}
              </Text>
              <Button size="compact-sm" variant="default" onClick={selection.clear}>
                {t.clearSelection}
              </Button>
            </Group>
            {selection.filter && (
              <Text size="xs" c="dimmed">
                {t.selectedAllHelp}
              </Text>
            )}
            <div ref={bar}>
              <BulkButtons selector={selector} name={name} filter={selection.filter} assignment={assignment} />
            </div>
          </Stack>
        </div>
      )}
      <RobotDrawer id={open} onClose={() => setOpen(undefined)} />
    </Stack>
  );
}

/** Somebody came from Assign to select robots. */
function Assigning({ of }: { of: string }) {
  const t = useRobotsTexts();
  const story = useNameOf('story');
  const what = whatIn(new URLSearchParams(of));
  const name = what.kind === 'story' ? story(what.story) : what.kind === 'activities' ? what.ids.join(', ') : '';
  return (
    <Alert color="blue" title={t.assigning(name)}>
      <Group justify="space-between">
        <Text size="sm">{t.assigningHelp}</Text>
        <Button component={Link} to={`/assign?${of}`} variant="default" size="compact-md">
          {t.assigningBack}
        </Button>
      </Group>
    </Alert>
  );
}

interface StateProps {
  total: number;
  matching: number;
  connection: string;
  onClear: () => void;
}

/** Why there are no rows, if there are none. */
function State({ total, matching, connection, onClear }: StateProps) {
  const t = useRobotsTexts();
  if (matching > 0) return null;
  if (total === 0 && connection !== 'live') {
    return (
      <Group>
        <Loader size="sm" aria-hidden />
        <Text role="status">{t.loading}</Text>
      </Group>
    );
  }
  if (total === 0) {
    return (
      <Stack gap={4} py="xl" align="center" role="status">
        <Text fw={500}>{t.empty}</Text>
        <Text c="dimmed" size="sm">
          {t.emptyHelp}
        </Text>
      </Stack>
    );
  }
  return (
    <Stack gap="xs" py="xl" align="center" role="status">
      <Text fw={500}>{t.noMatch}</Text>
      <Button variant="default" onClick={onClear}>
        {t.filter.clear}
      </Button>
    </Stack>
  );
}

/** The order of the cards, which have no headers to click. */
function SortSelect({ sorting, onSort }: { sorting: Sorting; onSort: (s: Sorting) => void }) {
  const t = useRobotsTexts();
  return (
    <Select
      aria-label={t.sortBy('…')}
      w={190}
      allowDeselect={false}
      value={sorting.column}
      onChange={(c) => onSort({ column: (c ?? 'problems') as SortColumn, desc: false })}
      data={[
        { value: 'problems', label: t.problemsFirst },
        ...columnIDs.map((c: ColumnID) => ({ value: c as string, label: t.columns[c] })),
      ]}
    />
  );
}
