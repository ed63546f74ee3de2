import { Button, Modal, Stack, Text } from '@mantine/core';
import { useBlocker } from 'react-router';

import { useEditorTexts } from './text';
import type { Editor } from './useEditor';

/** Asks before the page is left with changes that fleetd has not taken, which nothing else keeps. */
export function UnsavedDialog({ editor }: { editor: Editor }) {
  const t = useEditorTexts();
  const refused = editor.saving === 'failed' || editor.saving === 'conflict';
  const blocker = useBlocker((to) => refused && to.nextLocation.pathname !== to.currentLocation.pathname);
  const stay = () => blocker.reset?.();
  return (
    <Modal
      opened={blocker.state === 'blocked'}
      onClose={stay}
      title={t.unsavedTitle}
      closeButtonProps={{ 'aria-label': t.close }}
    >
      <Stack>
        <Text size="sm">{t.unsaved}</Text>
        <Button h={48} variant="default" onClick={stay}>
          {t.stay}
        </Button>
        <Button h={48} variant="subtle" onClick={() => blocker.proceed?.()}>
          {t.leaveUnsaved}
        </Button>
      </Stack>
    </Modal>
  );
}
