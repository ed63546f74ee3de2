import { Button, Fieldset, Group, Stack, Text, TextInput } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';

import { useEntry } from '../../library/api';
import { useEditorTexts } from '../text';
import type { FieldProps } from './Field';
import { FieldLabel } from './FieldLabel';
import { orNothing, Remove } from './Remove';
import { useFieldWord } from './words';

type Map = Record<string, string>;

/** Names with values, such as labels. */
export function Pairs({ name, schema, value, disabled, onChange }: FieldProps) {
  const t = useEditorTexts();
  const word = useFieldWord();
  const pairs = (value ?? {}) as Map;
  const [fresh, setFresh] = useState('');
  const add = () => {
    if (fresh && !(fresh in pairs)) onChange({ ...pairs, [fresh]: '' });
    setFresh('');
  };
  return (
    <Fieldset legend={<FieldLabel name={name} />}>
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
          label={`${word(name)}: ${t.key}`}
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
    <Fieldset legend={<FieldLabel name={p.name} />}>
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
  const word = useFieldWord();
  const all = (value ?? {}) as Record<string, { type: string; default?: string }>;
  const [fresh, setFresh] = useState('');
  const add = () => {
    if (fresh && !(fresh in all)) onChange({ ...all, [fresh]: { type: 'string' } });
    setFresh('');
  };
  return (
    <Fieldset legend={<FieldLabel name={name} />}>
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
          label={`${word(name)}: ${t.key}`}
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
