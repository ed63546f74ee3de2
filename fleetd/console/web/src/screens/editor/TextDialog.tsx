import { Button, Group, Modal, Stack, Text, Textarea } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { lineOf } from '../../api/lines';
import { CommandLine } from '../../shell/CommandLine';
import { type Entry, saveText, validate } from '../library/api';
import { Refused } from '../../shell/Refused';
import { useEditorTexts } from './text';
import type { Editor } from './useEditor';

/** The draft as the YAML of its file, validated while typing. */
export function TextDialog({ editor, entry, onClose }: { editor: Editor; entry: Entry; onClose: () => void }) {
  const t = useEditorTexts();
  const { kind, id } = editor;
  const [text, setText] = useState(entry.draft ?? '');
  const [error, setError] = useState<unknown>();
  const [asked] = useDebouncedValue(text, 300);
  const check = useQuery({ queryKey: ['validate', kind, asked], queryFn: () => validate(kind, asked), gcTime: 0 });
  const send = async () => {
    try {
      editor.take((await saveText(kind, id, text, editor.draftRev)).entry);
      onClose();
    } catch (thrown) {
      setError(thrown);
    }
  };
  return (
    <Modal opened onClose={onClose} size="xl" title={t.textTitle(id)} closeButtonProps={{ 'aria-label': t.close }}>
      <Stack>
        <Textarea
          label={t.textHelp}
          value={text}
          onChange={(e) => setText(e.currentTarget.value)}
          autosize
          minRows={12}
          maxRows={24}
          spellCheck={false}
          readOnly={!editor.mayEdit}
          styles={{ input: { fontFamily: 'monospace' } }}
          data-autofocus
        />
        <Stack gap={2} role="status">
          {(check.data?.problems ?? []).slice(0, 8).map((p, n) => (
            <Text key={n} size="sm" c={p.severity === 'error' ? 'red' : undefined}>
              {p.line ? `${p.line}:${p.column ?? 1} ` : ''}
              {p.pointer} {p.detail}
              {p.hint ? `; ${p.hint}` : ''}
            </Text>
          ))}
          {check.data?.problems?.length === 0 && <Text size="sm">{t.noProblems}</Text>}
        </Stack>
        {error !== undefined && <Refused error={error} />}
        <Group justify="flex-end">
          <CommandLine lines={[lineOf(`save-${kind}`, { path: { id }, file: `${id}.yaml`, over: editor.draftRev })]} />
          <Button variant="default" onClick={onClose}>
            {t.cancel}
          </Button>
          <Button disabled={!editor.mayEdit} onClick={() => void send()}>
            {t.saveText}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
