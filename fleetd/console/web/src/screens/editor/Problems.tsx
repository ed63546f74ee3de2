import { Badge, Group, Stack, Text, UnstyledButton } from '@mantine/core';
import { IconAlertCircle, IconAlertTriangle, IconCheck, IconCircleDashed } from '@tabler/icons-react';

import { summary } from './defaults';
import { find, listField, locate } from './model';
import { useFieldWord } from './fields/words';
import { useSummaryWords } from './names';
import { useEditorTexts } from './text';
import { useProblemText } from './problemText';
import { isTodo, isUnfinished, isWrong } from './unfinished';
import type { Editor } from './useEditor';

/** Goes to the field that a problem is about. */
export function jump(editor: Editor, pointer: string): void {
  const { key, field } = locate(editor.kind, editor.doc, pointer);
  editor.select(key ? [key] : []);
  // The field is on the page after this change is drawn.
  setTimeout(() => {
    const nothing = !key && field === listField(editor.kind);
    const fields = document.querySelector<HTMLElement>(`[data-field="${CSS.escape(field)}"]`);
    const input =
      ((nothing && document.querySelector<HTMLElement>('[data-add]')) ||
        fields?.querySelector<HTMLElement>('input, textarea, button')) ??
      document.querySelector<HTMLElement>(key ? `[data-item="${key}"]` : '[data-inspector] input');
    input?.scrollIntoView({ block: 'nearest' });
    input?.focus();
  }, 60);
}

/** Everything that fleetd finds wrong with the draft; each goes to its place. */
export function Problems({ editor }: { editor: Editor }) {
  const t = useEditorTexts();
  const word = useFieldWord();
  const words = useSummaryWords();
  const say = useProblemText(editor);
  const { problems, state } = editor.check;
  const isError = (p: (typeof problems)[number]) => isWrong(p) || (editor.strict && isUnfinished(p));
  return (
    <Stack gap={4} component="section" aria-label={t.problems}>
      <Group gap="xs">
        <Text fw={500} size="sm">
          {t.problems}
        </Text>
        {problems.length > 0 && (
          <Badge
            color={problems.some(isError) ? 'red' : problems.some((p) => !isTodo(p)) ? 'yellow' : 'gray'}
            variant="light"
          >
            {problems.length}
          </Badge>
        )}
        <Text size="xs" c="dimmed" role="status">
          {state === 'checking' ? t.checking : state === 'failed' ? t.checkFailed : ''}
        </Text>
      </Group>
      {problems.length === 0 && state === 'checked' && (
        <Group gap={6}>
          <IconCheck size={16} color="var(--mantine-color-green-6)" aria-hidden />
          <Text size="sm">{t.noProblems}</Text>
        </Group>
      )}
      {problems.map((p, n) => {
        const { key, field } = locate(editor.kind, editor.doc, p.pointer);
        const item = find(editor.doc, key);
        const error = isError(p);
        const missing = isTodo(p);
        const said = say(p);
        const Icon = error ? IconAlertCircle : missing ? IconCircleDashed : IconAlertTriangle;
        return (
          <UnstyledButton key={n} className="problem" onClick={() => jump(editor, p.pointer)}>
            <Icon
              size={16}
              color={
                error
                  ? 'var(--mantine-color-red-6)'
                  : missing
                    ? 'var(--mantine-color-dimmed)'
                    : 'var(--mantine-color-yellow-7)'
              }
              aria-label={error ? t.error : missing ? t.todo : t.warning}
            />
            <span>
              <Text span size="sm" fw={500} dir="auto">
                {[item && summary(item.fields, editor.lang, words), !missing && field && word(field)]
                  .filter(Boolean)
                  .join(', ')
                  .replace(/.$/, '$&: ')}
              </Text>
              <Text span size="sm">
                {said.text}
              </Text>
              {said.hint && (
                <Text span size="sm" c="dimmed">
                  {'. '}
                  {said.hint.charAt(0).toUpperCase() + said.hint.slice(1)}
                </Text>
              )}
            </span>
          </UnstyledButton>
        );
      })}
    </Stack>
  );
}
