import {
  Autocomplete,
  ColorInput,
  Fieldset,
  NumberInput,
  Select,
  Stack,
  Switch,
  TagsInput,
  Textarea,
  TextInput,
} from '@mantine/core';

import { useNameOf } from '../../library/api';
import { resolve, type Schema } from '../schemas';
import { useEditorTexts } from '../text';
import { Choices } from './Choices';
import { ConditionField } from './ConditionField';
import { FieldLabel } from './FieldLabel';
import type { FieldProps } from './FieldProps';
import { Pairs, Parameters, With } from './Named';
import { Permissions } from './Permissions';
import { Texts } from './Texts';
import { NumberField } from './NumberField';
import { withoutUnit } from './units';
import { useFieldHelp, useFieldWord, useValueWord } from './words';

/** The input for one field, chosen by its schema. An emptied field is left out of the draft. */
export function Field(props: FieldProps) {
  const schema = resolve(props.root, props.schema);
  const description = useFieldHelp()(props.name) ?? schema.description;
  return (
    <div data-field={props.name}>
      <Input {...props} schema={{ ...schema, description }} />
    </div>
  );
}

const isText = (s: Schema) => typeof s.additionalProperties === 'object' && s.additionalProperties.type === 'string';

function Input(p: FieldProps) {
  const t = useEditorTexts();
  const { name, schema, value, onChange, disabled } = p;
  const valueWord = useValueWord();
  const actName = useNameOf('act');
  const common = {
    label: <FieldLabel name={name} />,
    description: withoutUnit(schema.description),
    disabled,
    withAsterisk: p.required,
  };
  const text = typeof value === 'string' ? value : '';
  const set = (v: string) => onChange(v === '' && !p.required ? undefined : v);

  if (schema.oneOf) return <Rule {...p} />;
  if (name === 'when') return <ConditionField {...p} />;
  if (name === 'with') return <With {...p} />;
  if (name === 'parameters') return <Parameters {...p} />;
  if (name === 'permissions') return <Permissions {...p} />;
  if (name === 'choices') return <Choices {...p} />;
  if (name === 'name' || name === 'text') return <Texts {...p} />;
  if (schema.type === 'object' && isText(schema)) return <Pairs {...p} />;
  if (schema.properties) {
    const inner = (value ?? {}) as Record<string, unknown>;
    return (
      <Fieldset legend={<FieldLabel name={name} />}>
        <Stack gap="sm">
          {['when', 'for', 'cooldown', ...Object.keys(schema.properties)]
            .filter((n, k, all) => schema.properties![n] && all.indexOf(n) === k)
            .map((n) => (
              <Field
                key={n}
                {...p}
                name={n}
                schema={schema.properties![n]!}
                value={inner[n]}
                values={inner}
                required={schema.required?.includes(n)}
                onChange={(v) => {
                  const next = Object.fromEntries(
                    Object.entries({ ...inner, [n]: v }).filter(([, e]) => e !== undefined),
                  );
                  onChange(Object.keys(next).length > 0 ? next : undefined);
                }}
              />
            ))}
        </Stack>
      </Fieldset>
    );
  }
  if (schema.type === 'array')
    return (
      <TagsInput
        {...common}
        value={(value as string[] | undefined) ?? []}
        data={p.names[name] ?? []}
        onChange={(v) => onChange(v.length > 0 ? v : undefined)}
      />
    );
  if (schema.enum)
    return (
      <Select
        {...common}
        value={text || null}
        data={schema.enum.map((value) => ({ value, label: valueWord(value) }))}
        clearable={!p.required}
        placeholder={t.fixed}
        onChange={(v) => onChange(v ?? undefined)}
      />
    );
  if (schema.type === 'boolean')
    return (
      <Switch
        label={common.label}
        description={common.description}
        disabled={disabled}
        checked={value === true}
        onChange={(e) => onChange(e.currentTarget.checked || undefined)}
      />
    );
  if (schema.type === 'number' || schema.type === 'integer')
    return <NumberField {...common} name={name} schema={schema} value={value} onChange={onChange} />;
  if (schema.pattern?.startsWith('^#'))
    return (
      <ColorInput
        {...common}
        value={text}
        format="hex"
        placeholder="#20c0ff"
        onChange={(v) => onChange(v === '' ? undefined : v)}
      />
    );
  if (name === 'act' || name === 'shutdown')
    return (
      <Select
        {...common}
        searchable
        clearable={!p.required}
        value={text || null}
        data={[...new Set([...(p.names.act ?? []), ...(text ? [text] : [])])].map((id) => ({
          value: id,
          label: actName(id) === id ? id : `${actName(id)} (${id})`,
        }))}
        onChange={(v) => onChange(v ?? undefined)}
      />
    );
  const suggested = p.names[name];
  if (suggested) return <Autocomplete {...common} value={text} data={suggested} onChange={set} />;
  if ((schema.maxLength ?? 0) > 200)
    return <Textarea {...common} autosize value={text} onChange={(e) => set(e.currentTarget.value)} />;
  return <TextInput {...common} value={text} onChange={(e) => set(e.currentTarget.value)} dir="auto" />;
}

/** A word, or a number under a name: once, loop or {times: 3}. */
function Rule({ name, schema, value, onChange, disabled, required }: FieldProps) {
  const t = useEditorTexts();
  const fieldWord = useFieldWord();
  const valueWord = useValueWord();
  const words = schema.oneOf!.find((s) => s.enum)?.enum ?? [];
  const counted = schema.oneOf!.find((s) => s.properties)!;
  const [count, bounds] = Object.entries(counted.properties!)[0]!;
  const n = value !== null && typeof value === 'object' ? (value as Record<string, number>)[count] : undefined;
  return (
    <Stack gap={4}>
      <Select
        label={<FieldLabel name={name} />}
        disabled={disabled}
        withAsterisk={required}
        allowDeselect={!required}
        value={n !== undefined ? count : typeof value === 'string' ? value : null}
        placeholder={t.fixed}
        data={[...words, count].map((w) => ({ value: w, label: valueWord(w) }))}
        onChange={(v) => onChange(v === null ? undefined : v === count ? { [count]: 2 } : v)}
      />
      {n !== undefined && (
        <NumberInput
          aria-label={`${fieldWord(name)}: ${valueWord(count)}`}
          disabled={disabled}
          value={n}
          min={bounds.minimum}
          max={bounds.maximum}
          onChange={(v) => typeof v === 'number' && onChange({ [count]: v })}
        />
      )}
    </Stack>
  );
}
