import { Alert, Button, Group, Loader, Select, Stack, Text } from '@mantine/core';
import { useRef, useState } from 'react';
import { useSearchParams } from 'react-router';

import { line } from '../../api/commandline';
import { problemOf } from '../../api/problem';
import { noSite, useSitesKnown } from '../../api/sites';
import { useSites } from '../../live/robots';
import { CommandLine } from '../../shell/CommandLine';
import { Refused } from '../../shell/Refused';
import { useSchedules, useWeek } from './api';
import { SiteFields } from './SiteFields';
import { useSchedulesTexts } from './text';
import { mondayOf, plusDays } from './times';
import { dayText, Week } from './Week';

/** A week of a site in its zone, and its opening hours, exceptions and maintenance windows. */
export function Calendar() {
  const t = useSchedulesTexts();
  const labels = useSites();
  const known = useSitesKnown();
  const [query, setQuery] = useSearchParams();
  const all = [...new Set([...labels, ...(known.data ?? []).map((s) => s.id)])].filter((id) => id !== noSite).sort();
  // The first site stays chosen when one comes before it, which somebody else may have made.
  const first = useRef('');
  if (known.isSuccess) first.current ||= all[0] ?? '';
  const site = query.get('site') ?? first.current;
  const today = new Date().toLocaleDateString('sv'); // 2026-11-23
  const [from, setFrom] = useState(() => mondayOf(today));
  const of = known.data?.find((s) => s.id === site);
  const week = useWeek(of?.zone ? site : '', from);
  const schedules = useSchedules().data;
  if (known.isPending) return <Loader aria-label={t.checking} />;
  if (known.isError) return <Refused error={known.error} onRetry={() => void known.refetch()} />;
  if (all.length === 0) return <Text role="status">{t.noSites}</Text>;
  return (
    <Stack>
      <Group align="flex-end">
        <Select
          label={t.chooseSite}
          value={site}
          data={all}
          allowDeselect={false}
          searchable
          onChange={(s) => s && setQuery({ tab: 'calendar', site: s }, { replace: true })}
        />
        <Button variant="default" onClick={() => setFrom(plusDays(from, -7))}>
          {t.previous}
        </Button>
        <Button variant="default" onClick={() => setFrom(mondayOf(today))}>
          {t.thisWeek}
        </Button>
        <Button variant="default" onClick={() => setFrom(plusDays(from, 7))}>
          {t.following}
        </Button>
        <CommandLine compact lines={[line('site', 'week', site, `--from=${from}`)]} />
      </Group>
      {of?.zone ? (
        <Stack gap="xs">
          <Group gap="sm">
            <Text fw={500}>{t.week(dayText(from), dayText(plusDays(from, 6)))}</Text>
            <Text size="sm" c="dimmed">
              {t.inZone(of.zone)}
            </Text>
          </Group>
          {week.isError && problemOf(week.error).status !== 404 && (
            <Refused error={week.error} onRetry={() => void week.refetch()} />
          )}
          {week.data && <Week days={week.data.days} schedules={schedules ?? []} />}
        </Stack>
      ) : (
        <Alert color="blue" title={t.noCalendar} />
      )}
      <SiteFields key={site + (of?.zone ?? '')} id={site} of={of} />
    </Stack>
  );
}
