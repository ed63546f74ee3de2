import { Card, Checkbox, NumberInput, Select, Stack, Text, Textarea, TextInput, Title } from '@mantine/core';

import { useEntries } from '../library/api';
import type { What } from './model';
import { useAssignTexts } from './text';

const empty: Record<What['kind'], What> = {
  story: { kind: 'story', story: '', rev: 0, apply: 'next_act' },
  back: { kind: 'back' },
  mode: { kind: 'mode', mode: 'ato', now: false },
  settings: { kind: 'settings', key: '', value: '' },
  places: { kind: 'places', id: 'places', text: '' },
};

/** What is assigned, with the fields of its kind. */
export function WhatForm({ what, onChange }: { what: What; onChange: (w: What) => void }) {
  const t = useAssignTexts();
  return (
    <Card withBorder>
      <Stack gap="sm">
        <Title order={2} size="h4">
          {t.what}
        </Title>
        <Select
          aria-label={t.what}
          value={what.kind}
          allowDeselect={false}
          data={Object.entries(t.kinds).map(([value, label]) => ({ value, label }))}
          onChange={(kind) => kind && onChange(empty[kind as What['kind']])}
        />
        {what.kind === 'story' && <StoryFields what={what} onChange={onChange} />}
        {what.kind === 'back' && <Text size="sm">{t.backHelp}</Text>}
        {what.kind === 'mode' && (
          <>
            <Select
              label={t.mode}
              value={what.mode}
              allowDeselect={false}
              data={Object.entries(t.modes).map(([value, label]) => ({ value, label }))}
              onChange={(mode) => mode && onChange({ ...what, mode })}
            />
            <Checkbox
              label={t.modeNow}
              checked={what.now}
              onChange={(e) => onChange({ ...what, now: e.currentTarget.checked })}
            />
          </>
        )}
        {what.kind === 'settings' && (
          <>
            <TextInput
              label={t.key}
              placeholder="low_battery"
              value={what.key}
              onChange={(e) => onChange({ ...what, key: e.currentTarget.value })}
            />
            <TextInput
              label={t.value}
              dir="auto"
              value={what.value}
              onChange={(e) => onChange({ ...what, value: e.currentTarget.value })}
            />
          </>
        )}
        {what.kind === 'places' && (
          <>
            <TextInput
              label={t.placesId}
              value={what.id}
              onChange={(e) => onChange({ ...what, id: e.currentTarget.value })}
            />
            <Textarea
              label={t.places}
              placeholder={'{"schema": 1, "points": {"door": {"x_m": -3.5, "y_m": 2}}}'}
              autosize
              minRows={4}
              value={what.text}
              onChange={(e) => onChange({ ...what, text: e.currentTarget.value })}
            />
          </>
        )}
      </Stack>
    </Card>
  );
}

type StoryWhat = Extract<What, { kind: 'story' }>;

function StoryFields({ what, onChange }: { what: StoryWhat; onChange: (w: What) => void }) {
  const t = useAssignTexts();
  const stories = useEntries('story');
  const published = (stories.data ?? []).filter((e) => e.rev > 0);
  return (
    <>
      <Select
        label={t.story}
        value={what.story || null}
        searchable
        error={stories.isError ? stories.error.message : undefined}
        data={published.map((e) => ({ value: e.id, label: e.name ? `${e.name} (${e.id})` : e.id }))}
        onChange={(story) => onChange({ ...what, story: story ?? '', rev: 0 })}
      />
      <NumberInput
        label={t.revision}
        placeholder={t.newest}
        min={1}
        max={published.find((e) => e.id === what.story)?.rev}
        value={what.rev || ''}
        onChange={(rev) => onChange({ ...what, rev: Number(rev) || 0 })}
      />
      <Select
        label={t.apply}
        value={what.apply}
        allowDeselect={false}
        data={Object.entries(t.applies).map(([value, label]) => ({ value, label }))}
        onChange={(apply) => apply && onChange({ ...what, apply: apply as StoryWhat['apply'] })}
      />
    </>
  );
}
