import { Button, Group, Loader, Modal, Paper, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useNavigate } from 'react-router';

import { api, data } from '../../api/client';
import { useLanguage } from '../../text/language';
import { clock } from '../../text/time';
import { type Entry, nameOf, save, useRefresh } from '../library/api';
import { Refused } from '../../shell/Refused';
import { useConflictTexts } from './conflictText';
import { DiffView } from './DiffView';
import { plural, write } from './model';
import type { Editor } from './useEditor';

/** Somebody else saved the draft: keeps both, mine or theirs, as the author chooses. */
export function ConflictDialog({ editor }: { editor: Editor }) {
  const t = useConflictTexts();
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
  const language = useLanguage((s) => s.language);
  const who = theirs.data?.changed_by || t.somebody;
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
      title={t.title}
    >
      <Stack>
        {theirs.isPending && <Loader />}
        {theirs.isError && <Refused error={theirs.error} onRetry={() => void theirs.refetch()} />}
        {theirs.data && (
          <>
            <Text size="sm">{t.what(who, clock(theirs.data.changed_at), nameOf(theirs.data, language))}</Text>
            <Text size="sm" fw={500}>
              {t.legend(who)}
            </Text>
            <DiffView from={theirs.data.content} to={mine} />
            {error !== undefined && <Refused error={error} />}
            <Way title={t.bothTitle} about={t.both(who)}>
              <TextInput
                size="xs"
                label={t.copyId}
                value={copy}
                data-autofocus
                onChange={(e) => setCopy(e.currentTarget.value)}
              />
              <Button onClick={() => void asCopy()}>{t.bothButton}</Button>
            </Way>
            <Way title={t.mineTitle} about={t.mine(who)}>
              <Button variant="default" onClick={() => void editor.flush(theirs.data.draft_rev)}>
                {t.mineButton}
              </Button>
            </Way>
            <Way title={t.theirsTitle(who)} about={t.theirs}>
              <Button variant="default" onClick={() => editor.take(theirs.data)}>
                {t.theirsButton}
              </Button>
            </Way>
          </>
        )}
      </Stack>
    </Modal>
  );
}

/** One way out of the conflict, with what becomes of both versions. */
function Way({ title, about, children }: { title: string; about: string; children: ReactNode }) {
  return (
    <Paper withBorder p="sm" component="section" aria-label={title}>
      <Group justify="space-between" align="flex-end">
        <Stack gap={0} flex="1 1 16rem">
          <Text size="sm" fw={500}>
            {title}
          </Text>
          <Text size="sm">{about}</Text>
        </Stack>
        <Group align="flex-end" gap="xs">
          {children}
        </Group>
      </Group>
    </Paper>
  );
}
