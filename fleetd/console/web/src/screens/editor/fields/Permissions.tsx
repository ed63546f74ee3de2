import { Checkbox } from '@mantine/core';

import { useEditorTexts } from '../text';
import { FieldGroup } from './FieldGroup';
import type { FieldProps } from './FieldProps';
import { without } from './Remove';

/** Circumstances in which an activity may start all the same. */
export function Permissions({ name, schema, value, disabled, onChange }: FieldProps) {
  const t = useEditorTexts();
  const all = (value ?? {}) as Record<string, boolean>;
  return (
    <FieldGroup name={name} description={schema.description}>
      {Object.entries(t.permissions).map(([k, label]) => (
        <Checkbox
          key={k}
          label={label}
          disabled={disabled}
          checked={all[k] === true}
          onChange={(e) => onChange(e.currentTarget.checked ? { ...all, [k]: true } : without(all, k))}
        />
      ))}
    </FieldGroup>
  );
}
