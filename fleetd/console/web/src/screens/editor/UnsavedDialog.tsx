import { Button, Modal, Stack, Text } from '@mantine/core';
import { useEffect } from 'react';
import { useBlocker } from 'react-router';

import { useEditorTexts } from './text';
import type { Editor } from './useEditor';

/** Saves before the page is left. If fleetd does not take the changes, which nothing else keeps, it asks first. */
export function UnsavedDialog({ editor }: { editor: Editor }) {
  const t = useEditorTexts();
  const { saving, flush } = editor;
  const unsaved = saving !== 'saved' && saving !== 'readonly';
  const refused = saving === 'failed' || saving === 'conflict';
  const blocker = useBlocker((to) => unsaved && to.nextLocation.pathname !== to.currentLocation.pathname);
  const { state, proceed } = blocker;
  useEffect(() => {
    if (state === 'blocked' && !refused) void flush().then((saved) => saved && proceed?.());
  }, [state]);
  const stay = () => blocker.reset?.();
  return (
    <Modal
      opened={state === 'blocked' && refused}
      onClose={stay}
      title={t.unsavedTitle}
      closeButtonProps={{ 'aria-label': t.close }}
    >
      <Stack>
        <Text size="sm">{t.unsaved}</Text>
        <Button h={48} variant="default" onClick={stay}>
          {t.stay}
        </Button>
        <Button h={48} variant="subtle" color="red" onClick={() => proceed?.()}>
          {t.leaveUnsaved}
        </Button>
      </Stack>
    </Modal>
  );
}
