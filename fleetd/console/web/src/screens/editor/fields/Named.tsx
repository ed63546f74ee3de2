import { Button, Group, TextInput } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';

import { useEntry } from '../../library/api';
import { useEditorTexts } from '../text';
import { FieldGroup } from './FieldGroup';
import type { FieldProps } from './FieldProps';
import { Remove, without } from './Remove';
import { useFieldWord } from './words';

interface NamedProps<T> {
  label: (key: string) => string;
  placeholder?: string;
  add: string;
  textOf: (value: T) => string;
  valueOf: (text: string) => T;
}

/** Entries with names of their author's own, each with one text. */
function Named<T>({ name, schema, value, disabled, onChange, ...of }: FieldProps & NamedProps<T>) {
  const t = useEditorTexts();
  const word = useFieldWord();
  const all = (value ?? {}) as Record<string, T>;
  const [fresh, setFresh] = useState('');
  const add = () => {
    if (fresh && !(fresh in all)) onChange({ ...all, [fresh]: of.valueOf('') });
    setFresh('');
  };
  return (
    <FieldGroup name={name} description={schema.description}>
      {Object.entries(all).map(([k, v]) => (
        <Group key={k} gap={4} align="flex-end" wrap="nowrap">
          <TextInput
            label={of.label(k)}
            placeholder={of.placeholder}
            flex={1}
            dir="auto"
            disabled={disabled}
            value={of.textOf(v)}
            onChange={(e) => onChange({ ...all, [k]: of.valueOf(e.currentTarget.value) })}
          />
          <Remove what={k} disabled={disabled} onClick={() => onChange(without(all, k))} />
        </Group>
      ))}
      <Group gap={4} wrap="nowrap">
        <TextInput
          size="xs"
          flex={1}
          aria-label={`${word(name)}: ${t.key}`}
          disabled={disabled}
          value={fresh}
          onChange={(e) => setFresh(e.currentTarget.value)}
          onKeyDown={(e) => {
            if (e.key === 'Enter') {
              e.preventDefault();
              add();
            }
          }}
        />
        <Button
          size="xs"
          variant="default"
          disabled={disabled || !fresh}
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={add}
        >
          {of.add}
        </Button>
      </Group>
    </FieldGroup>
  );
}

const same = (text: string) => text;

/** Names with values, such as labels. */
export function Pairs(p: FieldProps) {
  return <Named {...p} add={useEditorTexts().addEntry} label={same} textOf={same} valueOf={same} />;
}

/** Placeholders of an act's texts, with their defaults. */
export function Parameters(p: FieldProps) {
  const t = useEditorTexts();
  return (
    <Named
      {...p}
      add={t.addParameter}
      placeholder={t.parameterDefault}
      label={(k) => `\${${k}}`}
      textOf={(parameter: { default?: string }) => parameter.default ?? ''}
      valueOf={(text) => ({ type: 'string', ...(text && { default: text }) })}
    />
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
  const values = (p.value ?? {}) as Record<string, string>;
  const unknown = Object.keys(values).some((k) => !(k in parameters));
  if (Object.keys(parameters).length === 0 || unknown) return unknown ? <Pairs {...p} /> : null;
  return (
    <FieldGroup name={p.name} description={p.schema.description}>
      {Object.entries(parameters).map(([k, parameter]) => (
        <TextInput
          key={k}
          label={k}
          placeholder={parameter.default}
          dir="auto"
          disabled={p.disabled}
          value={values[k] ?? ''}
          onChange={(e) =>
            p.onChange(e.currentTarget.value ? { ...values, [k]: e.currentTarget.value } : without(values, k))
          }
        />
      ))}
    </FieldGroup>
  );
}
