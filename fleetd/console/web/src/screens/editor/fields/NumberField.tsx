import { NumberInput, type NumberInputProps } from '@mantine/core';
import { useState } from 'react';

import type { Schema } from '../schemas';
import { shown, stored, unitOf } from './units';

type Props = Omit<NumberInputProps, 'value' | 'onChange' | 'name'> & {
  name: string;
  schema: Schema;
  value: unknown;
  onChange: (value: number | undefined) => void;
};

/** A number in the unit that people read. What is typed stays as it is until the field is left, such as 1. before 1.5. */
export function NumberField({ name, schema, value, onChange, ...common }: Props) {
  const [typed, setTyped] = useState<string | number>();
  const unit = unitOf(name);
  const whole = schema.type === 'integer' && !unit;
  const limit = (n?: number) => (n === undefined ? undefined : shown(name, n));
  return (
    <NumberInput
      {...common}
      value={typed ?? (typeof value === 'number' ? shown(name, value) : '')}
      min={limit(schema.minimum)}
      max={limit(schema.maximum)}
      clampBehavior="none"
      step={unit?.step ?? (whole ? 1 : 0.1)}
      allowDecimal={!whole}
      decimalScale={whole ? 0 : (unit?.digits ?? 4)}
      suffix={unit?.suffix}
      onChange={(v) => {
        setTyped(v);
        onChange(v === '' || Number.isNaN(Number(v)) ? undefined : stored(name, Number(v)));
      }}
      onBlur={() => setTyped(undefined)}
    />
  );
}
