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

import type { Names } from '../names';
import { resolve, type Schema } from '../schemas';
import { useEditorTexts } from '../text';
import { Choices, Pairs, Parameters, Permissions, Texts, With } from './Composite';
import { ConditionField } from './ConditionField';

export interface FieldProps {
  name: string;
  root: Schema;
  schema: Schema;
  value: unknown;
  required?: boolean;
  /** The fields beside it. */
  values: Record<string, unknown>;
  names: Names;
  disabled: boolean;
  onChange: (value: unknown) => void;
}

/** The input for one field, chosen by its schema. An emptied field is left out of the draft. */
export function Field(props: FieldProps) {
  return (
    <div data-field={props.name}>
      <Input {...props} schema={resolve(props.root, props.schema)} />
    </div>
  );
}

const isText = (s: Schema) => typeof s.additionalProperties === 'object' && s.additionalProperties.type === 'string';

function Input(p: FieldProps) {
  const t = useEditorTexts();
  const { name, schema, value, onChange, disabled } = p;
  const common = { label: name, description: schema.description, disabled, withAsterisk: p.required };
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
      <Fieldset legend={name}>
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
        data={schema.enum}
        clearable={!p.required}
        placeholder={t.fixed}
        onChange={(v) => onChange(v ?? undefined)}
      />
    );
  if (schema.type === 'boolean')
    return (
      <Switch
        label={name}
        description={schema.description}
        disabled={disabled}
        checked={value === true}
        onChange={(e) => onChange(e.currentTarget.checked || undefined)}
      />
    );
  if (schema.type === 'number' || schema.type === 'integer') {
    const degrees =
      name.endsWith('_rad') && typeof value === 'number' ? ` = ${t.degrees(((value * 180) / Math.PI).toFixed(0))}` : '';
    const whole = schema.type === 'integer';
    const ms = name.endsWith('_ms');
    return (
      <NumberInput
        {...common}
        description={`${schema.description ?? ''}${degrees}`}
        value={typeof value === 'number' ? value : ''}
        min={schema.minimum}
        max={schema.maximum}
        clampBehavior="none"
        step={ms ? 100 : whole ? 1 : 0.1}
        allowDecimal={!whole}
        decimalScale={whole ? 0 : 4}
        suffix={ms ? ' ms' : undefined}
        onChange={(v) => onChange(typeof v === 'number' ? v : undefined)}
      />
    );
  }
  if (schema.pattern?.startsWith('^#'))
    return <ColorInput {...common} value={text} format="hex" onChange={(v) => onChange(v === '' ? undefined : v)} />;
  const suggested = p.names[name];
  if (suggested) return <Autocomplete {...common} value={text} data={suggested} onChange={set} />;
  if ((schema.maxLength ?? 0) > 200)
    return <Textarea {...common} autosize value={text} onChange={(e) => set(e.currentTarget.value)} />;
  return <TextInput {...common} value={text} onChange={(e) => set(e.currentTarget.value)} dir="auto" />;
}

/** A word, or a number under a name: once, loop or {times: 3}. */
function Rule({ name, schema, value, onChange, disabled, required }: FieldProps) {
  const t = useEditorTexts();
  const words = schema.oneOf!.find((s) => s.enum)?.enum ?? [];
  const counted = schema.oneOf!.find((s) => s.properties)!;
  const [count, bounds] = Object.entries(counted.properties!)[0]!;
  const n = value !== null && typeof value === 'object' ? (value as Record<string, number>)[count] : undefined;
  const said = t as unknown as Record<string, string>;
  return (
    <Stack gap={4}>
      <Select
        label={name}
        description={schema.description}
        disabled={disabled}
        withAsterisk={required}
        allowDeselect={!required}
        value={n !== undefined ? count : typeof value === 'string' ? value : null}
        placeholder={t.fixed}
        data={[...words, count].map((w) => ({ value: w, label: said[w] && said[w] !== w ? `${w}: ${said[w]}` : w }))}
        onChange={(v) => onChange(v === null ? undefined : v === count ? { [count]: 2 } : v)}
      />
      {n !== undefined && (
        <NumberInput
          aria-label={`${name}: ${count}`}
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
