import { Chip, Group, NativeSelect, Select, Stack, Text, TextInput } from '@mantine/core';
import { useId, useMemo } from 'react';

import { useSites } from '../../live/robots';
import { type Day, days } from './types';
import type { TimesForm } from './times';
import { useSchedulesTexts } from './text';

interface Props {
  form: TimesForm;
  onChange: (f: TimesForm) => void;
}

/** When something happens. */
export function TimesFields({ form: f, onChange }: Props) {
  const t = useSchedulesTexts();
  const sites = useSites();
  const put = (some: Partial<TimesForm>) => onChange({ ...f, ...some });
  return (
    <Stack gap="sm">
      <NativeSelect
        label={t.when}
        value={f.by}
        data={Object.entries(t.by).map(([value, label]) => ({ value, label }))}
        onChange={(e) => put({ by: e.currentTarget.value as TimesForm['by'] })}
      />
      {f.by === 'week' && (
        <>
          <TextInput
            type="time"
            label={t.time}
            value={f.time}
            w={140}
            onChange={(e) => put({ time: e.currentTarget.value })}
          />
          <DayChips label={t.days} value={f.days} onChange={(d) => put({ days: d })} />
        </>
      )}
      {f.by === 'once' && (
        <TextInput
          type="datetime-local"
          label={t.at}
          value={f.at}
          w={240}
          onChange={(e) => put({ at: e.currentTarget.value })}
        />
      )}
      {f.by === 'cron' && (
        <TextInput
          label={t.cron}
          description={t.cronHelp}
          placeholder="0 9 * * 1-5"
          dir="ltr"
          value={f.cron}
          onChange={(e) => put({ cron: e.currentTarget.value })}
        />
      )}
      {f.by === 'site' && (
        <Group align="flex-end">
          <Select
            label={t.site}
            searchable
            value={f.site || null}
            data={[...new Set([...sites, ...(f.site ? [f.site] : [])])]}
            onChange={(site) => put({ site: site ?? '' })}
          />
          <NativeSelect
            label={t.on}
            value={f.on}
            data={Object.entries(t.ons).map(([value, label]) => ({ value, label }))}
            onChange={(e) => put({ on: e.currentTarget.value as TimesForm['on'] })}
          />
          <TextInput
            label={t.offset}
            value={f.offset}
            placeholder="0"
            onChange={(e) => put({ offset: e.currentTarget.value })}
          />
        </Group>
      )}
      {f.by !== 'site' && <ZoneField value={f.zone} onChange={(zone) => put({ zone })} />}
    </Stack>
  );
}

/** An IANA time zone. */
export function ZoneField({ value, onChange }: { value: string; onChange: (zone: string) => void }) {
  const t = useSchedulesTexts();
  const zones = useMemo(() => [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])], []);
  return (
    <Select
      label={t.zone}
      searchable
      selectFirstOptionOnChange
      limit={50}
      value={value || null}
      data={zones.includes(value) || !value ? zones : [value, ...zones]}
      onChange={(zone) => zone && onChange(zone)}
    />
  );
}

/** Days of the week to choose from. */
export function DayChips({ label, value, onChange }: { label: string; value: Day[]; onChange: (d: Day[]) => void }) {
  const t = useSchedulesTexts();
  const id = useId();
  return (
    <div role="group" aria-labelledby={id}>
      <Text size="sm" fw={500} id={id}>
        {label}
      </Text>
      <Group gap={6}>
        {days.map((d) => (
          <Chip
            key={d}
            size="sm"
            checked={value.includes(d)}
            onChange={(on) => onChange(days.filter((other) => (other === d ? on : value.includes(other))))}
          >
            {t.dayNames[d]}
          </Chip>
        ))}
      </Group>
    </div>
  );
}
