import './editor.css';

import { Alert, Button, Drawer, Grid, Loader, Paper, Select, Stack } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { useParams } from 'react-router';

import { useRobots } from '../../live/robots';
import { type Entry, useEntryAtOnce } from '../library/api';
import { Refused } from '../../shell/Refused';
import { ConflictDialog } from './ConflictDialog';
import { EditorHeader } from './EditorHeader';
import { Inspector } from './Inspector';
import { ItemList } from './ItemList';
import type { Kind } from './model';
import { useAuthorsRobot, useSuggestingRobot } from './names';
import { Palette } from './Palette';
import { Player } from './player';
import { Preview } from './Preview';
import { Problems } from './Problems';
import { type Schema, useSchema } from './schemas';
import { useEditorTexts } from './text';
import { TimelineView } from './TimelineView';
import { UnsavedDialog } from './UnsavedDialog';
import { useEditor } from './useEditor';

/** The editor of one act, story or activity. */
export function EditorScreen({ kind }: { kind: Kind }) {
  const t = useEditorTexts();
  const { id = '' } = useParams();
  const entry = useEntryAtOnce(kind, id);
  const schema = useSchema(kind);
  if (entry.isError) return <Refused error={entry.error} onRetry={() => void entry.refetch()} />;
  if (!entry.data || !schema) return <Loader aria-label={t.checking} />;
  return <Loaded key={`${kind}/${id}`} kind={kind} entry={entry.data} schema={schema} />;
}

const inInput = (e: KeyboardEvent) =>
  e.target instanceof HTMLElement &&
  /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName) &&
  (e.target as HTMLInputElement).type !== 'checkbox';

function Loaded({ kind, entry, schema }: { kind: Kind; entry: Entry; schema: Schema }) {
  const t = useEditorTexts();
  const editor = useEditor(kind, entry);
  const wide = useMediaQuery('(min-width: 75em)', true);
  const beside = useMediaQuery('(min-width: 62em)', true);
  const [adding, setAdding] = useState(false);
  const [player] = useState(() => new Player());

  useEffect(() => {
    const onKey = (e: KeyboardEvent) => {
      if (!(e.ctrlKey || e.metaKey) || inInput(e)) return;
      const back = e.key === 'z' && !e.shiftKey;
      const forth = e.key === 'y' || (e.key === 'Z' && e.shiftKey);
      if (!back && !forth) return;
      e.preventDefault();
      (back ? editor.undo : editor.redo)?.();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [editor.undo, editor.redo]);

  // Whoever just made this adds something next.
  useEffect(() => {
    if (entry.rev > 0 || editor.doc.items.length > 0 || !window.matchMedia('(pointer: fine)').matches) return;
    document.querySelector<HTMLElement>('input[data-add]')?.focus({ preventScroll: true });
  }, []);

  return (
    <Stack gap="sm">
      <EditorHeader editor={editor} entry={entry} />
      {!!entry.deleted_at && Date.parse(entry.deleted_at) > 0 && (
        <Alert color="orange">{t.deleted(entry.deleted_by || t.somebody)}</Alert>
      )}
      {editor.saving === 'failed' && <Refused error={editor.refused} onRetry={() => void editor.flush()} />}
      <Grid gap="sm">
        <Grid.Col span={{ base: 12, md: 7.6, lg: 8.6 }}>
          <Stack gap="sm">
            <Paper withBorder p="xs">
              {!beside && <Preview editor={editor} player={player} />}
              <TimelineView editor={editor} player={player} />
            </Paper>
            {!wide && (
              <Button
                data-add
                variant="light"
                leftSection={<IconPlus size={18} aria-hidden />}
                disabled={!editor.mayEdit}
                onClick={() => setAdding(true)}
              >
                {t.palette}
              </Button>
            )}
            <Grid gap="sm">
              {wide && (
                <Grid.Col span={4}>
                  <Paper withBorder p="xs">
                    <Palette editor={editor} schema={schema} />
                  </Paper>
                </Grid.Col>
              )}
              <Grid.Col span={wide ? 8 : 12}>
                <ItemList editor={editor} />
              </Grid.Col>
            </Grid>
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4.4, lg: 3.4 }}>
          <Stack gap="sm" className="aside">
            {beside && <Preview editor={editor} player={player} />}
            <Paper withBorder p="xs">
              <Stack gap="sm">
                {/* A condition is explained by the robot that is chosen above it. */}
                {kind === 'activity' && <RobotSelect kind={kind} />}
                <Inspector editor={editor} schema={schema} />
                {kind !== 'activity' && <RobotSelect kind={kind} />}
              </Stack>
            </Paper>
            <Paper withBorder p="xs">
              <Problems editor={editor} />
            </Paper>
          </Stack>
        </Grid.Col>
      </Grid>
      <Drawer
        opened={adding && !wide}
        onClose={() => setAdding(false)}
        title={t.palette}
        closeButtonProps={{ 'aria-label': t.close }}
      >
        <Palette editor={editor} schema={schema} onAdded={() => setAdding(false)} />
      </Drawer>
      {editor.saving === 'conflict' && <ConflictDialog editor={editor} />}
      <UnsavedDialog editor={editor} />
    </Stack>
  );
}

function RobotSelect({ kind }: { kind: Kind }) {
  const t = useEditorTexts();
  const { robot, choose } = useAuthorsRobot();
  const suggests = useSuggestingRobot();
  const ids = useRobots()
    .map((r) => r.id)
    .sort();
  return (
    <Select
      size="xs"
      label={t.suggestions[kind]}
      searchable
      clearable
      limit={100}
      placeholder={suggests ? t.suggestsNames(suggests) : t.noRobot}
      value={ids.includes(robot) ? robot : null}
      data={ids}
      onChange={(v) => choose(v ?? '')}
    />
  );
}
