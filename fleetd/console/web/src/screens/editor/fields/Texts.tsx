import { Group, Select, Textarea } from '@mantine/core';

import { useLanguage } from '../../../text/language';
import { languageName, sameLanguage } from '../../../text/multilingual';
import { useEditorTexts } from '../text';
import { FieldGroup } from './FieldGroup';
import type { FieldProps } from './FieldProps';
import { Remove, without } from './Remove';
import { useFieldWord } from './words';

const usual = ['fr', 'it', 'es', 'nl', 'pl', 'pt', 'tr', 'ar', 'he', 'ja', 'zh'];

/** A text in several languages. */
export function Texts({
  name,
  title: given,
  schema,
  value,
  names,
  disabled,
  onChange,
}: FieldProps & { title?: string }) {
  const t = useEditorTexts();
  const reader = useLanguage((s) => s.language);
  const word = useFieldWord();
  const title = given ?? word(name);
  const languageLabel = (l: string) => `${languageName(l, reader)} (${l})`;
  const texts = (value ?? {}) as Record<string, string>;
  // The author's own language is the one to write first.
  const ordered = Object.entries(texts).sort(
    ([a], [b]) => Number(sameLanguage(b, reader)) - Number(sameLanguage(a, reader)),
  );
  const free = [...new Set(['en', 'de', ...(names.languages ?? []), ...usual])].filter((l) => !(l in texts));
  return (
    <FieldGroup name={name} title={given} description={schema.description}>
      {ordered.map(([lang, text]) => (
        <Group key={lang} gap={4} align="flex-end" wrap="nowrap">
          <Textarea
            label={languageLabel(lang)}
            aria-label={`${title}: ${languageLabel(lang)}`}
            lang={lang}
            dir="auto"
            autosize
            minRows={1}
            maxRows={6}
            flex={1}
            disabled={disabled}
            value={text}
            onChange={(e) => onChange({ ...texts, [lang]: e.currentTarget.value })}
          />
          <Remove what={languageLabel(lang)} disabled={disabled} onClick={() => onChange(without(texts, lang))} />
        </Group>
      ))}
      <Select
        size="xs"
        aria-label={`${title}: ${t.addLanguage}`}
        placeholder={t.addLanguage}
        data={free.map((l) => ({ value: l, label: languageLabel(l) }))}
        value={null}
        searchable
        disabled={disabled}
        onChange={(lang) => lang && onChange({ ...texts, [lang]: '' })}
      />
    </FieldGroup>
  );
}
