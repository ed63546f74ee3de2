import { Button, Group, NativeSelect, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconFilter } from '@tabler/icons-react';
import { Children, type ReactNode } from 'react';

import { useShellTexts } from './text';
import type { Filter } from './useFilter';

interface FieldProps<K extends string> {
  of: Filter<K>;
  name: K;
  label: string;
}

/** The fields of a filter, and the button that empties them. On a phone all but the first are folded away. */
export function FilterRow({ of, children }: { of: { any: boolean; clear: () => void }; children: ReactNode }) {
  const t = useShellTexts();
  const [open, { toggle }] = useDisclosure(of.any);
  const folds = Children.toArray(children).length > 2;
  return (
    <Group align="flex-end" gap="xs" className="filter-row" data-folded={(folds && !open) || undefined}>
      {children}
      {folds && (
        <Button
          variant="default"
          hiddenFrom="sm"
          leftSection={<IconFilter size={16} aria-hidden />}
          aria-expanded={open}
          onClick={toggle}
        >
          {t.filters}
        </Button>
      )}
      {of.any && (
        <Button variant="subtle" onClick={of.clear}>
          {t.clearFilter}
        </Button>
      )}
    </Group>
  );
}

/** A part of a text, or a time. The first field of a screen is what the key / goes to. */
export function FilterText<K extends string>({
  of,
  name,
  label,
  example,
  first,
  time,
}: FieldProps<K> & { example?: string; first?: boolean; time?: boolean }) {
  return (
    <TextInput
      data-filter={first || undefined}
      type={time ? 'datetime-local' : undefined}
      label={label}
      placeholder={example}
      value={of.values[name]}
      onChange={(e) => of.put(name, e.currentTarget.value)}
      w={time ? undefined : 160}
      dir="auto"
    />
  );
}

/** One of several values, or any. */
export function FilterChoice<K extends string>({
  of,
  name,
  label,
  values,
}: FieldProps<K> & { values: Record<string, string> }) {
  const t = useShellTexts();
  return (
    <NativeSelect
      label={label}
      value={of.values[name]}
      onChange={(e) => of.put(name, e.currentTarget.value)}
      data={[{ value: '', label: t.any }, ...Object.entries(values).map(([value, text]) => ({ value, label: text }))]}
    />
  );
}
