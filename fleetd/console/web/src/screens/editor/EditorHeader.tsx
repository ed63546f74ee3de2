import { ActionIcon, Anchor, Badge, Box, Button, Group, Menu, Stack, Text, Title, Tooltip } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconArrowBackUp, IconArrowForwardUp, IconDots, IconShare3, IconUpload } from '@tabler/icons-react';
import { useState } from 'react';
import { useNavigate } from 'react-router';

import { useMay } from '../../api/me';
import { useLanguage } from '../../text/language';
import { type Multilingual, textIn } from '../../text/multilingual';
import { type Entry, useEntry } from '../library/api';
import { DeleteDialog } from '../library/DeleteDialog';
import { DraftBadge } from '../library/EntryTable';
import { exportLine } from '../library/exportLines';
import { exportURL } from '../library/files';
import { LinesDialog } from '../library/LinesDialog';
import { DuplicateDialog } from '../library/NewDialog';
import { BackLink } from './BackLink';
import { summary } from './defaults';
import { find, locate, plural } from './model';
import { useSummaryWords } from './names';
import { jump } from './Problems';
import { PublishDialog } from './PublishDialog';
import { Revisions, UsesDrawer } from './Revisions';
import { TextDialog } from './TextDialog';
import { useEditorTexts } from './text';
import { useProblemText } from './problemText';
import { isTodo, isUnfinished, isWrong } from './unfinished';
import type { Editor } from './useEditor';

type Dialog = 'publish' | 'revisions' | 'uses' | 'text' | 'copy' | 'lines' | 'delete';

/** The name of the draft, whether it is saved, and what can be done with it. */
export function EditorHeader({ editor, entry }: { editor: Editor; entry: Entry }) {
  const t = useEditorTexts();
  const navigate = useNavigate();
  const language = useLanguage((s) => s.language);
  const { kind, id, doc, mayEdit } = editor;
  const mayAssign = useMay('assign');
  const stored = useEntry(kind, id);
  const newest = stored.data ?? entry;
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
  const say = useProblemText(editor);
  const missing = editor.check.problems.filter(isUnfinished);
  const wrong = editor.check.problems.filter((p) => isWrong(p) || (editor.strict && isUnfinished(p)));
  const errors = wrong.length;
  const warnings = editor.check.problems.filter((p) => !isTodo(p) && !isWrong(p));
  const summaryWords = useSummaryWords();
  /** A problem with the action that it is about. */
  const saying = (p: (typeof warnings)[number]) => {
    const item = find(doc, locate(kind, doc, p.pointer).key);
    const name = item ? summary(item.fields, editor.lang, summaryWords) : '';
    return `${name.length > 40 ? `${name.slice(0, 39).trimEnd()}…` : name}${name && ': '}${say(p).text}`;
  };
  const changed =
    newest.draft_changed || editor.saving === 'dirty' || editor.draftRev > newest.draft_rev || newest.rev === 0;
  const texts = (doc.head.name ?? {}) as Multilingual;
  const shownName = textIn(texts, language)?.text || id;
  const blocked = !mayEdit ? t.noEdit : errors > 0 ? t.publishBlocked(errors) : undefined;
  const unassignable = !mayAssign ? t.noAssign : newest.rev === 0 ? t.publishFirst : undefined;
  const askToPublish = () => {
    if (missing.length === 0) return void openSaved('publish');
    editor.treatMissingAsErrors();
    notifications.show({ id: 'unfinished', color: 'orange', message: t.publishUnfinished });
    jump(editor, missing[0]!.pointer);
  };
  const openSaved = async (what: Dialog) => {
    if (mayEdit && !(await editor.flush())) return;
    await stored.refetch();
    setDialog(what);
  };
  return (
    <Group justify="space-between" align="flex-start">
      <Stack gap={2} flex="1 1 12rem" miw={0}>
        <BackLink editor={editor} />
        <Group gap="xs">
          <Title order={1} size="h3" dir="auto">
            {shownName}
          </Title>
          <DraftBadge e={{ rev: newest.rev, draft_changed: changed }} />
          {newest.rev > 0 && (
            <Badge variant="default" tt="none">
              {t.revisionNumber(newest.rev)}
            </Badge>
          )}
        </Group>
        <Text
          size="sm"
          c={editor.saving === 'failed' ? undefined : 'dimmed'}
          fw={editor.saving === 'failed' ? 500 : undefined}
          role="status"
          data-testid="save-state"
        >
          {id} · {editor.saving === 'saved' && !changed ? t.publishNothing : t.state[editor.saving]}
        </Text>
      </Stack>
      <Group gap="xs" className="header-actions">
        <Tooltip label={`${t.undo} (Ctrl Z)`}>
          <ActionIcon
            className="first"
            variant="default"
            size={36}
            aria-label={t.undo}
            disabled={!editor.undo}
            onClick={editor.undo}
          >
            <IconArrowBackUp size={20} aria-hidden />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={`${t.redo} (Ctrl Y)`}>
          <ActionIcon
            className="first"
            variant="default"
            size={36}
            aria-label={t.redo}
            disabled={!editor.redo}
            onClick={editor.redo}
          >
            <IconArrowForwardUp size={20} aria-hidden />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={blocked} disabled={!blocked}>
          <Button
            variant={changed ? 'filled' : 'default'}
            leftSection={<IconUpload size={18} aria-hidden />}
            data-disabled={!!blocked || undefined}
            aria-disabled={!!blocked}
            onClick={() => !blocked && askToPublish()}
          >
            {t.publish}
          </Button>
        </Tooltip>
        {kind !== 'act' && (
          <Tooltip label={unassignable} disabled={!unassignable}>
            <Button
              variant={changed ? 'default' : 'filled'}
              leftSection={<IconShare3 size={18} aria-hidden />}
              data-disabled={!!unassignable || undefined}
              aria-disabled={!!unassignable}
              onClick={() => !unassignable && void navigate(`/assign?${kind}=${id}`)}
            >
              {t.assign}
            </Button>
          </Tooltip>
        )}
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon className="first" variant="default" size={36} aria-label={t.more}>
              <IconDots size={20} aria-hidden />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => void openSaved('revisions')}>{t.revisions}</Menu.Item>
            <Menu.Item onClick={() => setDialog('uses')}>{t.uses}</Menu.Item>
            <Menu.Item onClick={() => void openSaved('text')}>{t.asText}</Menu.Item>
            <Menu.Item component="a" href={exportURL(kind, [id], 'yaml')} download>
              {t.exportYAML}
            </Menu.Item>
            <Menu.Item component="a" href={exportURL(kind, [id], 'zip')} download>
              {t.exportZIP}
            </Menu.Item>
            <Menu.Item onClick={() => setDialog('lines')}>{t.commandLine}</Menu.Item>
            <Menu.Item disabled={!mayEdit} onClick={() => void openSaved('copy')}>
              {t.duplicate}
            </Menu.Item>
            <Menu.Divider />
            <Menu.Item color="red" disabled={!mayEdit} onClick={() => setDialog('delete')}>
              {t.remove}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </Group>
      {/* The line keeps its place without a problem: what is below must not move under the pointer. */}
      <Box mih="1.4em" flex="0 0 100%" mt={-8}>
        {errors > 0 && (
          <Anchor
            component="button"
            type="button"
            size="sm"
            ta="start"
            className="header-problem"
            c="red"
            onClick={() => jump(editor, wrong[0]!.pointer)}
          >
            {t.publishBlocked(errors)}: {say(wrong[0]!).text}
          </Anchor>
        )}
        {errors === 0 && missing.length > 0 && (
          <Anchor
            component="button"
            type="button"
            size="sm"
            ta="start"
            className="header-problem"
            c="dimmed"
            onClick={() => jump(editor, missing[0]!.pointer)}
          >
            {t.unfinished}: {say(missing[0]!).text}
          </Anchor>
        )}
        {errors + missing.length === 0 && warnings.length > 0 && (
          <Anchor
            component="button"
            type="button"
            size="sm"
            ta="start"
            className="header-problem"
            c="dimmed"
            onClick={() => jump(editor, warnings[0]!.pointer)}
          >
            {t.warnings(warnings.length)}: {saying(warnings[0]!)}
          </Anchor>
        )}
      </Box>
      {dialog === 'publish' && <PublishDialog editor={editor} entry={newest} onClose={close} />}
      {dialog === 'revisions' && <Revisions editor={editor} entry={newest} onClose={close} />}
      {dialog === 'uses' && <UsesDrawer editor={editor} onClose={close} />}
      {dialog === 'text' && <TextDialog editor={editor} entry={newest} onClose={close} />}
      {dialog === 'copy' && <DuplicateDialog kind={kind} id={id} taken={[id]} onClose={close} />}
      {dialog === 'lines' && (
        <LinesDialog
          lines={[
            { label: t.exportYAML, line: exportLine(kind, [id], 'yaml') },
            { label: t.exportZIP, line: exportLine(kind, [id], 'zip') },
          ]}
          onClose={close}
        />
      )}
      {dialog === 'delete' && (
        <DeleteDialog kind={kind} id={id} onClose={close} onDone={() => void navigate(`/${plural[kind]}`)} />
      )}
    </Group>
  );
}
