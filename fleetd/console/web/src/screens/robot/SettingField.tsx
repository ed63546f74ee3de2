import { NumberInput, Select, TagsInput, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';

import { texts } from '../../text/language';
import { type Setting, valueText } from './settings';

const useTexts = texts(
  { own: 'not set by the fleet', yes: 'yes', no: 'no', notJSON: 'this is not JSON yet' },
  { own: 'nicht von der Flotte gesetzt', yes: 'ja', no: 'nein', notJSON: 'das ist noch kein JSON' },
  { own: 'pas réglé par la flotte', yes: 'oui', no: 'non', notJSON: 'ce n’est pas encore du JSON' },
);

interface Props {
  name: string;
  schema: Setting;
  /** undefined: the fleet does not set it. */
  value: unknown;
  disabled?: boolean;
  onChange: (value: unknown) => void;
}

/** Text of a JSON field that is no JSON yet. It stands for the value, so that no older one is sent for it. */
export class UnparsedJSON {
  constructor(readonly text: string) {}
}

/** The field for one value, as its JSON Schema describes it. */
export function SettingField({ name, schema, value, disabled, onChange }: Props) {
  const t = useTexts();
  const common = { 'aria-label': name, disabled, placeholder: t.own, size: 'sm' } as const;
  if (schema.enum)
    return (
      <Select
        {...common}
        clearable
        data={schema.enum}
        value={(value as string) ?? null}
        onChange={(v) => onChange(v ?? undefined)}
      />
    );
  switch (schema.type) {
    case 'boolean':
      return (
        <Select
          {...common}
          clearable
          data={[
            { value: 'true', label: t.yes },
            { value: 'false', label: t.no },
          ]}
          value={value === undefined ? null : String(value)}
          onChange={(v) => onChange(v === null ? undefined : v === 'true')}
        />
      );
    case 'integer':
    case 'number':
      return (
        <NumberInput
          {...common}
          value={(value as number) ?? ''}
          min={schema.minimum}
          max={schema.maximum}
          step={schema.type === 'integer' ? 1 : 0.05}
          clampBehavior="none"
          allowDecimal={schema.type === 'number'}
          error={outside(value, schema) ? `${schema.minimum} – ${schema.maximum}` : undefined}
          onChange={(v) => onChange(v === '' ? undefined : Number(v))}
        />
      );
    case 'string':
      return (
        <TextInput
          {...common}
          dir="auto"
          value={(value as string) ?? ''}
          onChange={(e) => onChange(e.currentTarget.value || undefined)}
        />
      );
  }
  if (schema.type === 'array' && schema.items?.type === 'string')
    return (
      <TagsInput
        {...common}
        value={(value as string[]) ?? []}
        onChange={(v) => onChange(v.length > 0 ? v : undefined)}
      />
    );
  return <JSONField name={name} value={value} disabled={disabled} onChange={onChange} />;
}

/** Whether a value cannot be sent: a number beyond the bounds of its schema, or text that is no JSON. */
export function outside(value: unknown, schema: Setting): boolean {
  if (value instanceof UnparsedJSON) return true;
  return (
    typeof value === 'number' &&
    ((schema.minimum !== undefined && value < schema.minimum) ||
      (schema.maximum !== undefined && value > schema.maximum))
  );
}

function JSONField({ name, value, disabled, onChange }: Omit<Props, 'schema'>) {
  const t = useTexts();
  const [text, setText] = useState(value instanceof UnparsedJSON ? value.text : undefined);
  const [wrong, setWrong] = useState(value instanceof UnparsedJSON);
  const edit = (next: string) => {
    setText(next);
    try {
      onChange(next.trim() === '' ? undefined : JSON.parse(next));
      setWrong(false);
    } catch {
      onChange(new UnparsedJSON(next));
      setWrong(true);
    }
  };
  return (
    <Textarea
      aria-label={name}
      disabled={disabled}
      placeholder={t.own}
      autosize
      maxRows={10}
      dir="ltr"
      styles={{ input: { fontFamily: 'monospace' } }}
      value={text ?? (value === undefined ? '' : valueText(value))}
      error={wrong ? t.notJSON : undefined}
      onChange={(e) => edit(e.currentTarget.value)}
    />
  );
}
