import { Button, Group, Stack, TextInput } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';

import { useLanguage } from '../../../text/language';
import { useEditorTexts } from '../text';
import { FieldGroup } from './FieldGroup';
import type { FieldProps } from './FieldProps';
import { Remove } from './Remove';
import { Texts } from './Texts';

type Map = Record<string, string>;

/** Answers that a screen offers. */
export function Choices(p: FieldProps) {
  const t = useEditorTexts();
  const all = (p.value as { id: string; text: Map }[] | undefined) ?? [];
  const put = (n: number, next: object) => p.onChange(all.map((c, k) => (k === n ? { ...c, ...next } : c)));
  return (
    <FieldGroup name={p.name} description={p.schema.description}>
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
            title={`${t.choice} ${n + 1}`}
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
        onClick={() =>
          p.onChange([...all, { id: `answer-${all.length + 1}`, text: { [useLanguage.getState().language]: '' } }])
        }
      >
        {t.addChoice}
      </Button>
    </FieldGroup>
  );
}
