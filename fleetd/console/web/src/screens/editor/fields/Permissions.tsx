import { Checkbox, Fieldset, Stack, Text } from '@mantine/core';

import { useEditorTexts } from '../text';
import type { FieldProps } from './Field';
import { FieldLabel } from './FieldLabel';
import { orNothing } from './Remove';

/** Circumstances in which an activity may start all the same. */
export function Permissions({ name, schema, value, disabled, onChange }: FieldProps) {
  const t = useEditorTexts();
  const all = (value ?? {}) as Record<string, boolean>;
  return (
    <Fieldset legend={<FieldLabel name={name} />}>
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
