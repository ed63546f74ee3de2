import {
  Card,
  Checkbox,
  MultiSelect,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core';

import { useModeName } from '../../text/modes';
import { useEntries } from '../library/api';
import { SettingField, UnparsedJSON } from '../robot/SettingField';
import { useSettingSchemas } from '../robot/settings';
import { valueOf, type What } from './model';
import { useAssignTexts } from './text';

const empty: Record<What['kind'], What> = {
  story: { kind: 'story', story: '', rev: 0, apply: 'next_act' },
  back: { kind: 'back' },
  activities: { kind: 'activities', ids: [] },
  mode: { kind: 'mode', mode: 'ato', now: false },
  settings: { kind: 'settings', key: '', value: '' },
  places: { kind: 'places', id: 'places', text: '' },
};

/** What is assigned, with the fields of its kind. */
export function WhatForm({ what, onChange }: { what: What; onChange: (w: What) => void }) {
  const t = useAssignTexts();
  const modeName = useModeName();
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
        {what.kind === 'back' && (
          <>
            <Select
              label={t.backOf}
              value={what.of ?? 'story'}
              allowDeselect={false}
              data={Object.entries(t.backs).map(([value, label]) => ({ value, label }))}
              onChange={(of) => of && onChange({ kind: 'back', of: of === 'story' ? undefined : (of as 'config') })}
            />
            <Text size="sm">{what.of ? t.backDocumentHelp : t.backHelp}</Text>
          </>
        )}
        {what.kind === 'activities' && <ActivityFields what={what} onChange={onChange} />}
        {what.kind === 'mode' && (
          <>
            <Select
              label={t.mode}
              value={what.mode}
              allowDeselect={false}
              data={['mnl', 'ato'].map((value) => ({ value, label: modeName(value) }))}
              onChange={(mode) => mode && onChange({ ...what, mode })}
            />
            <Checkbox
              label={t.modeNow}
              checked={what.now}
              onChange={(e) => onChange({ ...what, now: e.currentTarget.checked })}
            />
          </>
        )}
        {what.kind === 'settings' && <SettingFields what={what} onChange={onChange} />}
        {what.kind === 'places' && (
          <>
            <None what={what} label={t.noPlaces} onChange={onChange} />
            <TextInput
              disabled={what.none}
              label={t.placesId}
              value={what.id}
              onChange={(e) => onChange({ ...what, id: e.currentTarget.value })}
            />
            <Textarea
              disabled={what.none}
              dir="ltr"
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

/** Takes it away instead of giving another. */
function None(p: { what: Exclude<What, { kind: 'back' | 'mode' }>; label: string; onChange: (w: What) => void }) {
  return (
    <Checkbox
      label={p.label}
      checked={!!p.what.none}
      onChange={(e) => p.onChange({ ...p.what, none: e.currentTarget.checked })}
    />
  );
}

type ActivitiesWhat = Extract<What, { kind: 'activities' }>;

function ActivityFields({ what, onChange }: { what: ActivitiesWhat; onChange: (w: What) => void }) {
  const t = useAssignTexts();
  const all = useEntries('activity');
  return (
    <>
      <MultiSelect
        label={t.activities}
        description={t.activitiesHelp}
        searchable
        selectFirstOptionOnChange
        clearable
        clearButtonProps={{ 'aria-label': t.clear }}
        disabled={what.none}
        value={what.ids}
        error={all.isError ? all.error.message : undefined}
        data={(all.data ?? [])
          .filter((e) => e.rev > 0)
          .map((e) => ({ value: e.id, label: e.name ? `${e.name} (${e.id})` : e.id }))}
        onChange={(ids) => onChange({ ...what, ids })}
      />
      <None what={what} label={t.noActivities} onChange={onChange} />
    </>
  );
}

type SettingsWhat = Extract<What, { kind: 'settings' }>;

function SettingFields({ what, onChange }: { what: SettingsWhat; onChange: (w: What) => void }) {
  const t = useAssignTexts();
  const schemas = useSettingSchemas();
  const schema = schemas.data?.find(([key]) => key === what.key)?.[1];
  return (
    <>
      <Select
        label={t.key}
        searchable
        selectFirstOptionOnChange
        value={what.key || null}
        error={schemas.isError ? schemas.error.message : undefined}
        data={(schemas.data ?? []).map(([key]) => key)}
        onChange={(key) => onChange({ ...what, key: key ?? '', value: '' })}
      />
      {schema && (
        <div key={what.key}>
          <Text size="sm" fw={500} aria-hidden>
            {t.value}
          </Text>
          <Text size="xs" c="dimmed">
            {schema.description}
          </Text>
          <SettingField
            name={t.value}
            schema={schema}
            disabled={what.none}
            value={what.value === '' ? undefined : valueOf(what.value)}
            onChange={(v) =>
              onChange({ ...what, value: v === undefined || v instanceof UnparsedJSON ? '' : JSON.stringify(v) })
            }
          />
        </div>
      )}
      <None what={what} label={t.noSetting} onChange={onChange} />
    </>
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
        selectFirstOptionOnChange
        disabled={what.none}
        error={stories.isError ? stories.error.message : undefined}
        data={published.map((e) => ({ value: e.id, label: e.name ? `${e.name} (${e.id})` : e.id }))}
        onChange={(story) => onChange({ ...what, story: story ?? '', rev: 0 })}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <NumberInput
          label={t.revision}
          placeholder={t.newest}
          disabled={what.none}
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
      </SimpleGrid>
      <None what={what} label={t.noStory} onChange={onChange} />
    </>
  );
}
