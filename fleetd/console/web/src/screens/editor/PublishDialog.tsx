import { Anchor, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';

import { addressOf } from '../../base';
import { lineOf } from '../../api/lines';
import { CommandLine } from '../../shell/CommandLine';
import { contentOf, entriesOf, type Entry, entryOf, publish, useNameOf, useRefresh } from '../library/api';
import { Refused } from '../../shell/Refused';
import { DiffView } from './DiffView';
import { DraftActList } from './DraftActList';
import { draftActsOf, errorsIn } from './draftActs';
import { actsOf, write } from './model';
import { usePublishTexts } from './publishText';
import { useEditorTexts } from './text';
import type { Editor } from './useEditor';

/** Shows what is published now and what would be, also of acts that are only drafts, asks for a note, and publishes. */
export function PublishDialog({ editor, entry, onClose }: { editor: Editor; entry: Entry; onClose: () => void }) {
  const t = useEditorTexts();
  const own = usePublishTexts();
  const refresh = useRefresh();
  const navigate = useNavigate();
  const { kind, id } = editor;
  const [why, setWhy] = useState('');
  const [ticked, setTicked] = useState<string[]>([]);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const name = useNameOf(kind)(id);
  const next = kind === 'act' ? '/stories' : `/assign?${kind}=${id}`;
  const published = useQuery({
    queryKey: ['revision', kind, id, entry.rev],
    enabled: entry.rev > 0,
    queryFn: () => contentOf(kind, id, entry.rev),
    staleTime: Infinity,
  });
  const named = actsOf(kind, editor.doc);
  const drafts = useQuery({
    queryKey: ['library', 'act', 'drafts', named],
    enabled: named.length > 0,
    queryFn: async () => draftActsOf(named, await entriesOf('act'), (act) => entryOf('act', act)),
    gcTime: 0,
  });
  const { unpublished = [], changed = [] } = drafts.data ?? {};
  const together = [...unpublished, ...changed.filter((a) => ticked.includes(a.id))];
  const faulty = together.some((a) => errorsIn(a) > 0);
  const body = { why, ...(together.length > 0 && { acts: together.map((a) => a.id) }) };
  const send = async () => {
    setBusy(true);
    try {
      const done = await publish(kind, id, editor.draftRev, body);
      const stale = [...(done.stale ?? []), ...(done.stale_activities ?? [])];
      notifications.show({
        color: 'green',
        title: t.publishedAs(id, done.revision.rev),
        message: (
          <>
            {done.acts && <Text size="sm">{own.publishedActs(done.acts.map((a) => a.id).join(', '))}</Text>}
            {stale.length > 0 && <Text size="sm">{t.stale(stale.join(', '))}</Text>}
            <Anchor
              href={addressOf(next)}
              size="sm"
              onClick={(e) => {
                e.preventDefault(); // messages are drawn outside of the router
                void navigate(next);
              }}
            >
              {kind === 'act' ? t.putIntoStory : t.assign}
            </Anchor>
          </>
        ),
        autoClose: 10_000,
      });
      await refresh();
      editor.recheck();
      onClose();
    } catch (thrown) {
      setError(thrown);
      setBusy(false);
    }
  };
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={t.publishTitle(name === id ? id : `${name} (${id})`)}
      closeButtonProps={{ 'aria-label': t.close }}
    >
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void send();
        }}
      >
        <Stack>
          <Text size="sm">{t.publishHelp}</Text>
          <TextInput
            label={t.note}
            value={why}
            maxLength={256}
            data-autofocus
            dir="auto"
            onChange={(e) => setWhy(e.currentTarget.value)}
          />
          <Text size="sm" fw={500}>
            {entry.rev > 0 ? t.diff(t.revisionNumber(entry.rev), t.draftWord) : t.firstRevision}
          </Text>
          {published.isError && <Refused error={published.error} onRetry={() => void published.refetch()} />}
          {(entry.rev === 0 || published.data) && <DiffView from={published.data} to={write(kind, editor.doc)} />}
          {drafts.isError && <Refused error={drafts.error} onRetry={() => void drafts.refetch()} />}
          {drafts.data && <DraftActList editor={editor} drafts={drafts.data} ticked={ticked} onTick={setTicked} />}
          {faulty && (
            <Text size="sm" c="red">
              {own.correctFirst}
            </Text>
          )}
          {error !== undefined && <Refused error={error} />}
          <Group justify="flex-end">
            <CommandLine lines={[lineOf(`publish-${kind}`, { path: { id }, body })]} />
            <Button variant="default" onClick={onClose}>
              {t.cancel}
            </Button>
            <Button type="submit" loading={busy || drafts.isLoading} disabled={faulty}>
              {t.publishNow}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
