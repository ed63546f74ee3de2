import { Anchor, Badge, Checkbox, Group, List, Stack, Text } from '@mantine/core';

import { useLanguage } from '../../text/language';
import { type Entry, nameOf } from '../library/api';
import { type DraftActs, errorsIn } from './draftActs';
import type { Editor } from './useEditor';
import { pathFrom } from './origin';
import { SavedLink } from './SavedLink';
import { usePublishTexts } from './publishText';

/** The acts that are published together with a draft: those that have to be, and those that its author ticks. */
export function DraftActList({
  editor,
  drafts,
  ticked,
  onTick,
}: {
  editor: Editor;
  drafts: DraftActs;
  ticked: readonly string[];
  onTick: (ids: string[]) => void;
}) {
  const t = usePublishTexts();
  const language = useLanguage((s) => s.language);
  const named = (a: Entry) => (nameOf(a, language) === a.id ? a.id : `${nameOf(a, language)} (${a.id})`);
  return (
    <>
      {drafts.unpublished.length > 0 && (
        <Stack gap={4} component="section" aria-label={t.unpublished}>
          <Text size="sm" fw={500}>
            {t.unpublished}
          </Text>
          <List size="sm">
            {drafts.unpublished.map((a) => (
              <List.Item key={a.id}>
                <Group gap="xs">
                  <Text span size="sm" dir="auto">
                    {named(a)}
                  </Text>
                  {errorsIn(a) > 0 && (
                    <>
                      <Badge color="red" variant="light" tt="none">
                        {t.errors(errorsIn(a))}
                      </Badge>
                      <Anchor component={SavedLink} editor={editor} to={pathFrom(a.id, editor)} size="sm">
                        {t.correct(a.id)}
                      </Anchor>
                    </>
                  )}
                </Group>
              </List.Item>
            ))}
          </List>
        </Stack>
      )}
      {drafts.changed.length > 0 && (
        <Checkbox.Group
          value={[...ticked]}
          onChange={onTick}
          label={t.changed}
          description={t.changedHelp}
          aria-label={t.changed}
        >
          <Stack gap={6} mt={6}>
            {drafts.changed.map((a) => (
              <Checkbox key={a.id} value={a.id} size="sm" label={t.changedSince(named(a), a.rev)} />
            ))}
          </Stack>
        </Checkbox.Group>
      )}
    </>
  );
}
