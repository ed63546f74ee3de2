import { ActionIcon, Button, Checkbox, Fieldset, Group, Select, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';

import { useEntry } from '../../library/api';
import { useEditorTexts } from '../text';
import type { FieldProps } from './Field';

type Map = Record<string, string>;

const orNothing = <T extends object>(v: T) => (Object.keys(v).length > 0 ? v : undefined);

function Remove({ what, disabled, onClick }: { what: string; disabled: boolean; onClick: () => void }) {
  const t = useEditorTexts();
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size={32}
      disabled={disabled}
      aria-label={t.removeOne(what)}
      onClick={onClick}
    >
      <IconTrash size={16} aria-hidden />
    </ActionIcon>
  );
}

/** A text in several languages. */
export function Texts({ name, schema, value, names, disabled, onChange }: FieldProps) {
  const t = useEditorTexts();
  const texts = (value ?? {}) as Map;
  const known = [
    'en',
    'de',
    ...(names.languages ?? []),
    'fr',
    'it',
    'es',
    'nl',
    'pl',
    'pt',
    'tr',
    'ar',
    'he',
    'ja',
    'zh',
  ];
  const free = [...new Set(known)].filter((l) => !(l in texts));
  return (
    <Fieldset legend={name}>
      <Stack gap="xs">
        <Text size="xs" c="dimmed">
          {schema.description}
        </Text>
        {Object.entries(texts).map(([lang, text]) => (
          <Group key={lang} gap={4} align="flex-end" wrap="nowrap">
            <Textarea
              label={lang}
              aria-label={`${name} ${lang}`}
              lang={lang}
              dir="auto"
              autosize
              minRows={1}
              maxRows={6}
              flex={1}
              disabled={disabled}
              value={text}
              onChange={(e) => onChange({ ...texts, [lang]: e.currentTarget.value })}
            />
            <Remove
              what={lang}
              disabled={disabled}
              onClick={() => onChange(orNothing(Object.fromEntries(Object.entries(texts).filter(([l]) => l !== lang))))}
            />
          </Group>
        ))}
        <Select
          size="xs"
          aria-label={`${name}: ${t.addLanguage}`}
          placeholder={t.addLanguage}
          data={free}
          value={null}
          searchable
          disabled={disabled}
          onChange={(lang) => lang && onChange({ ...texts, [lang]: '' })}
        />
      </Stack>
    </Fieldset>
  );
}

/** Names with values, such as labels. */
export function Pairs({ name, schema, value, disabled, onChange }: FieldProps) {
  const t = useEditorTexts();
  const pairs = (value ?? {}) as Map;
  const [fresh, setFresh] = useState('');
  const add = () => {
    if (fresh && !(fresh in pairs)) onChange({ ...pairs, [fresh]: '' });
    setFresh('');
  };
  return (
    <Fieldset legend={name}>
      <Stack gap="xs">
        <Text size="xs" c="dimmed">
          {schema.description}
        </Text>
        {Object.entries(pairs).map(([k, v]) => (
          <Group key={k} gap={4} align="flex-end" wrap="nowrap">
            <TextInput
              label={k}
              flex={1}
              disabled={disabled}
              value={v}
              dir="auto"
              onChange={(e) => onChange({ ...pairs, [k]: e.currentTarget.value })}
            />
            <Remove
              what={k}
              disabled={disabled}
              onClick={() => onChange(orNothing(Object.fromEntries(Object.entries(pairs).filter(([o]) => o !== k))))}
            />
          </Group>
        ))}
        <NewKey
          label={`${name}: ${t.key}`}
          button={t.addEntry}
          value={fresh}
          disabled={disabled}
          onChange={setFresh}
          onAdd={add}
        />
      </Stack>
    </Fieldset>
  );
}

function NewKey({
  label,
  button,
  value,
  disabled,
  onChange,
  onAdd,
}: {
  label: string;
  button: string;
  value: string;
  disabled: boolean;
  onChange: (v: string) => void;
  onAdd: () => void;
}) {
  return (
    <Group gap={4} wrap="nowrap">
      <TextInput
        size="xs"
        flex={1}
        aria-label={label}
        disabled={disabled}
        value={value}
        onChange={(e) => onChange(e.currentTarget.value)}
        onKeyDown={(e) => {
          if (e.key === 'Enter') {
            e.preventDefault();
            onAdd();
          }
        }}
      />
      <Button
        size="xs"
        variant="default"
        disabled={disabled || !value}
        leftSection={<IconPlus size={14} aria-hidden />}
        onClick={onAdd}
      >
        {button}
      </Button>
    </Group>
  );
}

/** Values of the parameters of the act that is performed. */
export function With(p: FieldProps) {
  const act = typeof p.values.act === 'string' ? p.values.act : '';
  if (!act) return <Pairs {...p} />;
  return <WithOf key={act} act={act} {...p} />;
}

function WithOf({ act, ...p }: FieldProps & { act: string }) {
  const entry = useEntry('act', act).data;
  const parameters = ((entry?.content ?? {}) as { parameters?: Record<string, { default?: string }> }).parameters ?? {};
  const values = (p.value ?? {}) as Map;
  const unknown = Object.keys(values).some((k) => !(k in parameters));
  if (Object.keys(parameters).length === 0 || unknown) return unknown ? <Pairs {...p} /> : null;
  return (
    <Fieldset legend={p.name}>
      <Stack gap="xs">
        <Text size="xs" c="dimmed">
          {p.schema.description}
        </Text>
        {Object.entries(parameters).map(([k, parameter]) => (
          <TextInput
            key={k}
            label={k}
            placeholder={parameter.default}
            dir="auto"
            disabled={p.disabled}
            value={values[k] ?? ''}
            onChange={(e) => {
              const { [k]: _, ...others } = values;
              p.onChange(orNothing(e.currentTarget.value ? { ...values, [k]: e.currentTarget.value } : others));
            }}
          />
        ))}
      </Stack>
    </Fieldset>
  );
}

/** Placeholders of an act's texts, with their defaults. */
export function Parameters({ name, schema, value, disabled, onChange }: FieldProps) {
  const t = useEditorTexts();
  const all = (value ?? {}) as Record<string, { type: string; default?: string }>;
  const [fresh, setFresh] = useState('');
  const add = () => {
    if (fresh && !(fresh in all)) onChange({ ...all, [fresh]: { type: 'string' } });
    setFresh('');
  };
  return (
    <Fieldset legend={name}>
      <Stack gap="xs">
        <Text size="xs" c="dimmed">
          {schema.description}
        </Text>
        {Object.entries(all).map(([k, parameter]) => (
          <Group key={k} gap={4} align="flex-end" wrap="nowrap">
            <TextInput
              label={`\${${k}}`}
              placeholder={t.parameterDefault}
              flex={1}
              dir="auto"
              disabled={disabled}
              value={parameter.default ?? ''}
              onChange={(e) =>
                onChange({
                  ...all,
                  [k]: e.currentTarget.value ? { type: 'string', default: e.currentTarget.value } : { type: 'string' },
                })
              }
            />
            <Remove
              what={k}
              disabled={disabled}
              onClick={() => onChange(orNothing(Object.fromEntries(Object.entries(all).filter(([o]) => o !== k))))}
            />
          </Group>
        ))}
        <NewKey
          label={`${name}: ${t.key}`}
          button={t.addParameter}
          value={fresh}
          disabled={disabled}
          onChange={setFresh}
          onAdd={add}
        />
      </Stack>
    </Fieldset>
  );
}

/** Circumstances in which an activity may start all the same. */
export function Permissions({ name, schema, value, disabled, onChange }: FieldProps) {
  const t = useEditorTexts();
  const all = (value ?? {}) as Record<string, boolean>;
  return (
    <Fieldset legend={name}>
      <Stack gap="xs">
        <Text size="xs" c="dimmed">
          {schema.description}
        </Text>
        {Object.entries(t.permissions).map(([k, label]) => (
          <Checkbox
            key={k}
            label={label}
            disabled={disabled}
            checked={all[k] === true}
            onChange={(e) => {
              const { [k]: _, ...others } = all;
              onChange(orNothing(e.currentTarget.checked ? { ...all, [k]: true } : others));
            }}
          />
        ))}
      </Stack>
    </Fieldset>
  );
}

/** Answers that a screen offers. */
export function Choices(p: FieldProps) {
  const t = useEditorTexts();
  const all = (p.value as { id: string; text: Map }[] | undefined) ?? [];
  const put = (n: number, next: object) => p.onChange(all.map((c, k) => (k === n ? { ...c, ...next } : c)));
  return (
    <Fieldset legend={p.name}>
      <Stack gap="xs">
        <Text size="xs" c="dimmed">
          {p.schema.description}
        </Text>
        {all.map((c, n) => (
          <Stack key={n} gap={4}>
            <Group gap={4} align="flex-end" wrap="nowrap">
              <TextInput
                label={`${t.choice} ${n + 1}: id`}
                flex={1}
                disabled={p.disabled}
                value={c.id}
                onChange={(e) => put(n, { id: e.currentTarget.value })}
              />
              <Remove
                what={c.id || String(n + 1)}
                disabled={p.disabled}
                onClick={() => p.onChange(all.length > 1 ? all.filter((_, k) => k !== n) : undefined)}
              />
            </Group>
            <Texts
              {...p}
              name={`${t.choice} ${n + 1}`}
              schema={{}}
              value={c.text}
              onChange={(v) => put(n, { text: v ?? {} })}
            />
          </Stack>
        ))}
        <Button
          size="xs"
          variant="default"
          disabled={p.disabled}
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => p.onChange([...all, { id: `answer-${all.length + 1}`, text: { en: '' } }])}
        >
          {t.addChoice}
        </Button>
      </Stack>
    </Fieldset>
  );
}
