import { ActionIcon, Button, Checkbox, Collapse, Fieldset, Group, NativeSelect, Stack, TextInput } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useState } from 'react';

import { usePlanTexts } from './planText';
import { inAddress, type SpecForm, type WaveRow } from './spec';

interface Props {
  form: SpecForm;
  onChange: (f: SpecForm) => void;
}

/** How a rollout goes: its waves, and the rules that seldom change. */
export function SpecFields({ form: f, onChange }: Props) {
  const t = usePlanTexts();
  const [more, setMore] = useState(!!inAddress({ ...f, own: false }));
  const put = (some: Partial<SpecForm>) => onChange({ ...f, ...some });
  const putWave = (at: number, some: Partial<WaveRow>) =>
    put({ waves: f.waves.map((w, n) => (n === at ? { ...w, ...some } : w)) });
  return (
    <Stack gap="sm">
      <Checkbox
        label={t.ownWaves}
        description={f.own ? t.rest : t.defaultWaves}
        checked={f.own}
        onChange={(e) => put({ own: e.currentTarget.checked })}
      />
      {f.own &&
        f.waves.map((w, n) => (
          <Fieldset key={n} legend={t.wave(n + 1)} p="xs">
            <Group gap="xs" align="flex-end">
              <TextInput
                label={t.name}
                value={w.name}
                maxLength={63}
                w={130}
                dir="auto"
                onChange={(e) => putWave(n, { name: e.currentTarget.value })}
              />
              <NativeSelect
                label={t.size}
                value={w.by}
                data={Object.entries(t.by).map(([value, label]) => ({ value, label }))}
                onChange={(e) => putWave(n, { by: e.currentTarget.value as WaveRow['by'], size: '' })}
              />
              <TextInput
                aria-label={t.by[w.by]}
                value={w.size}
                placeholder={w.by === 'label' ? t.labelExample : undefined}
                inputMode={w.by === 'label' ? undefined : 'decimal'}
                w={w.by === 'label' ? 130 : 70}
                onChange={(e) => putWave(n, { size: e.currentTarget.value })}
              />
              <TextInput
                label={t.failures}
                value={w.failures}
                placeholder={t.byDefault}
                inputMode="decimal"
                w={130}
                onChange={(e) => putWave(n, { failures: e.currentTarget.value })}
              />
              <TextInput
                label={t.watched}
                value={w.watched}
                placeholder={t.byDefault}
                inputMode="decimal"
                w={110}
                onChange={(e) => putWave(n, { watched: e.currentTarget.value })}
              />
              <ActionIcon
                variant="default"
                size="lg"
                aria-label={t.removeWave(n + 1)}
                title={t.removeWave(n + 1)}
                disabled={f.waves.length === 1}
                onClick={() => put({ waves: f.waves.filter((_, at) => at !== n) })}
              >
                <IconTrash size={18} aria-hidden />
              </ActionIcon>
            </Group>
          </Fieldset>
        ))}
      {f.own && (
        <Group>
          <Button
            size="compact-sm"
            variant="default"
            disabled={f.waves.length >= 20}
            onClick={() =>
              put({ waves: [...f.waves, { name: '', by: 'percent', size: '', failures: '', watched: '' }] })
            }
          >
            {t.addWave}
          </Button>
        </Group>
      )}
      <Group>
        <Button size="compact-sm" variant="default" aria-expanded={more} onClick={() => setMore(!more)}>
          {t.more}
        </Button>
      </Group>
      <Collapse expanded={more}>
        <Stack gap="sm">
          <Group align="flex-end">
            <TextInput
              label={t.offersPerMin}
              value={f.offersPerMin}
              placeholder="60"
              inputMode="numeric"
              w={130}
              onChange={(e) => put({ offersPerMin: e.currentTarget.value })}
            />
            <TextInput
              label={t.retries}
              value={f.retries}
              placeholder="3"
              inputMode="numeric"
              onChange={(e) => put({ retries: e.currentTarget.value })}
            />
            <NativeSelect
              label={t.offline}
              value={f.offline || 'wait'}
              data={Object.entries(t.offlines).map(([value, label]) => ({ value, label }))}
              onChange={(e) => {
                const v = e.currentTarget.value as SpecForm['offline'];
                put({ offline: v === 'wait' ? '' : v });
              }}
            />
            <NativeSelect
              label={t.pinned}
              value={f.pinned || 'leave'}
              data={Object.entries(t.pinneds).map(([value, label]) => ({ value, label }))}
              onChange={(e) => {
                const v = e.currentTarget.value as SpecForm['pinned'];
                put({ pinned: v === 'leave' ? '' : v });
              }}
            />
          </Group>
          {(['inWindows', 'onlyIdle', 'watchHealth', 'offerRefused'] as const).map((k) => (
            <Checkbox key={k} label={t[k]} checked={f[k]} onChange={(e) => put({ [k]: e.currentTarget.checked })} />
          ))}
        </Stack>
      </Collapse>
    </Stack>
  );
}
