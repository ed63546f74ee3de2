import { Button, Group, Loader, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';

import { api, data } from '../../api/client';
import { type Entry, plural, save, useRefresh } from '../library/api';
import { Refused } from '../../shell/Refused';
import { DiffView } from './DiffView';
import { write } from './model';
import { useEditorTexts } from './text';
import type { Editor } from './useEditor';

/** Somebody else saved the draft: mine, theirs, or mine as a copy. */
export function ConflictDialog({ editor }: { editor: Editor }) {
  const t = useEditorTexts();
  const navigate = useNavigate();
  const refresh = useRefresh();
  const { kind, id } = editor;
  const [copy, setCopy] = useState(`${id}-mine`.slice(0, 63));
  const [error, setError] = useState<unknown>();
  const theirs = useQuery({
    queryKey: ['conflict', kind, id, editor.draftRev],
    queryFn: async () =>
      (await data(
        api.GET(`/api/v1/${plural[kind]}/{id}` as '/api/v1/acts/{id}', { params: { path: { id } } }),
      )) as Entry,
    gcTime: 0,
  });
  const mine = write(kind, editor.doc);
  const asCopy = async () => {
    try {
      await save(kind, copy, { ...mine, [kind]: copy }, 0);
      editor.take(theirs.data!);
      await refresh();
      void navigate(`/${plural[kind]}/${copy}`);
    } catch (thrown) {
      setError(thrown);
    }
  };
  return (
    <Modal
      opened
      onClose={() => undefined}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      size="xl"
      title={t.conflictTitle}
    >
      <Stack>
        {theirs.isPending && <Loader />}
        {theirs.isError && <Refused error={theirs.error} onRetry={() => void theirs.refetch()} />}
        {theirs.data && (
          <>
            <Text size="sm">{t.conflictHelp(theirs.data.changed_by || t.somebody)}</Text>
            <Text size="sm" fw={600}>
              {t.diff(t.theirs, t.mine)}
            </Text>
            <DiffView from={theirs.data.content} to={mine} />
            {error !== undefined && <Refused error={error} />}
            <Group align="flex-end">
              <Button data-autofocus onClick={() => editor.take(theirs.data)}>
                {t.takeTheirs}
              </Button>
              <Button variant="default" onClick={() => void editor.flush(theirs.data.draft_rev)}>
                {t.keepMine}
              </Button>
            </Group>
            <Group align="flex-end">
              <TextInput label={t.copyId} value={copy} onChange={(e) => setCopy(e.currentTarget.value)} />
              <Button variant="default" onClick={() => void asCopy()}>
                {t.saveCopy}
              </Button>
            </Group>
          </>
        )}
      </Stack>
    </Modal>
  );
}
