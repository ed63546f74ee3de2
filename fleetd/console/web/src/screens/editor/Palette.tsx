import { Button, ScrollArea, Skeleton, Stack, Text, TextInput, Title, UnstyledButton } from '@mantine/core';
import { IconMasksTheater, IconPlus, IconSearch } from '@tabler/icons-react';
import { type ComponentType, useRef, useState, type KeyboardEvent, type MouseEvent } from 'react';
import { useNavigate } from 'react-router';

import { useShellTexts } from '../../shell/text';
import { useLanguage } from '../../text/language';
import { nameOf, useEntries } from '../library/api';
import { NewDialog } from '../library/NewDialog';
import { icons, useActionTexts } from './actions';
import { type Dragged, draggedType } from './clipboard';
import { newAction } from './defaults';
import { type Fields, insert, itemOf, positionAfter } from './model';
import { useNames } from './names';
import { pathFrom } from './origin';
import { actionTypes, type Schema } from './schemas';
import { useEditorTexts } from './text';
import type { Editor } from './useEditor';

/** Whether an author has to write something before an action can be performed. */
const isBlank = (fields: Fields): boolean =>
  Object.values(fields).some((v) => v === '' || (typeof v === 'object' && v !== null && isBlank(v as Fields)));

/**
 * After a press of the mouse the next words are meant for the first field of what was added. With keys they are if
 * it has nothing to say yet; otherwise more can be added. A touch would open a keyboard over the page.
 */
function toFields(byKeys: boolean, fields: Fields) {
  if (byKeys ? !isBlank(fields) : !window.matchMedia('(pointer: fine)').matches) return;
  requestAnimationFrame(() =>
    document.querySelector<HTMLElement>('[data-inspector] :is(textarea, input:not([type=radio]))')?.focus(),
  );
}

/** What can be added: actions by their types, and acts of the library. */
export function Palette({ editor, schema, onAdded }: { editor: Editor; schema: Schema; onAdded?: () => void }) {
  const t = useEditorTexts();
  const { loading } = useShellTexts();
  const language = useLanguage((s) => s.language);
  const entries = useEntries('act');
  const acts = entries.data ?? [];
  const navigate = useNavigate();
  const [filter, setFilter] = useState('');
  const [beginning, setBeginning] = useState(false);
  const entriesRef = useRef<HTMLDivElement>(null);
  const { kind, doc, selected, mayEdit } = editor;
  const does: Record<string, string> = useActionTexts().does;
  const has = (...texts: (string | undefined)[]) => texts.join(' ').toLowerCase().includes(filter.trim().toLowerCase());

  const add = (fields: Fields) => {
    const item = itemOf(fields);
    editor.change(insert(kind, doc, positionAfter(doc, selected), [item]));
    editor.select([item.key]);
  };
  const addFirst = (e: KeyboardEvent) => {
    if (e.key !== 'Enter' || e.nativeEvent.isComposing || filter.trim() === '') return;
    entriesRef.current?.querySelector('button')?.click();
    setFilter('');
  };
  const addAct = (act: string) => add(kind === 'act' ? { type: 'act', start_ms: 0, act } : { act });
  /** Adds an act that was just made, and opens it: its editor leads back to this draft. */
  const begin = async (act: string) => {
    addAct(act);
    if (await editor.flush()) await navigate(pathFrom(act, editor));
    else setBeginning(false);
  };
  const names = useNames();
  /** The motions, faces, sounds and so on of an action that the text finds. */
  const found = (type: string) => (filter.trim() ? (names[type] ?? []).filter((n) => has(n)) : []);
  const types =
    kind === 'act'
      ? actionTypes(schema).filter((type) => type !== 'act' && (has(type, does[type]) || found(type).length > 0))
      : [];
  const library = acts.filter(
    (a) => !(kind === 'act' && a.id === editor.id) && has(a.id, ...Object.values(a.names ?? {})),
  );
  return (
    <Stack gap="xs" component="section" aria-label={t.palette}>
      <Title order={2} size="h6">
        {t.palette}
      </Title>
      <TextInput
        size="xs"
        aria-label={t.paletteFind}
        placeholder={t.paletteFind}
        type="search"
        data-add
        leftSection={<IconSearch size={14} aria-hidden />}
        value={filter}
        onChange={(e) => setFilter(e.currentTarget.value)}
        onKeyDown={addFirst}
      />
      <Button
        size="xs"
        variant="default"
        disabled={!mayEdit}
        leftSection={<IconPlus size={14} aria-hidden />}
        onClick={() => setBeginning(true)}
      >
        {t.newAct}
      </Button>
      <ScrollArea.Autosize mah={{ base: '70vh', lg: 440 }} type="auto" tabIndex={0}>
        <Stack gap={2} pe="xs" ref={entriesRef}>
          {types.length > 0 && (
            <Text size="xs" fw={500} c="dimmed">
              {t.paletteActions}
            </Text>
          )}
          {types.map((type) => (
            <Entry
              key={type}
              icon={icons[type]}
              name={type}
              about={[does[type], found(type).slice(0, 5).join(', ')].filter(Boolean).join(': ')}
              disabled={!mayEdit}
              dragged={newAction(type, language)}
              onClick={(e) => {
                const only = found(type).length === 1 ? { [type]: found(type)[0] } : {};
                const fields = { ...newAction(type, language), ...only };
                add(fields);
                onAdded?.();
                toFields(e.detail === 0, fields);
              }}
            />
          ))}
          {library.length > 0 && (
            <Text size="xs" fw={500} c="dimmed" mt={types.length > 0 ? 'xs' : 0}>
              {t.paletteAct}
            </Text>
          )}
          {library.map((a) => (
            <Entry
              key={a.id}
              icon={IconMasksTheater}
              name={nameOf(a, language)}
              about={nameOf(a, language) === a.id ? undefined : a.id}
              disabled={!mayEdit}
              dragged={kind === 'act' ? { type: 'act', start_ms: 0, act: a.id } : { act: a.id }}
              onClick={() => {
                addAct(a.id);
                onAdded?.();
              }}
            />
          ))}
          {entries.isPending && <Skeleton h={24} aria-label={loading} role="status" />}
          {!entries.isPending && types.length + library.length === 0 && <Text size="sm">{t.paletteEmpty}</Text>}
        </Stack>
      </ScrollArea.Autosize>
      {beginning && (
        <NewDialog kind="act" taken={acts.map((a) => a.id)} onClose={() => setBeginning(false)} onMade={begin} />
      )}
    </Stack>
  );
}

function Entry({
  icon: Icon,
  name,
  about,
  disabled,
  dragged: fields,
  onClick,
}: {
  icon?: ComponentType<{ size?: number }>;
  name: string;
  about?: string;
  disabled: boolean;
  /** What stands on the timeline where it is dropped. */
  dragged: Dragged['fields'];
  onClick: (e: MouseEvent) => void;
}) {
  const t = useEditorTexts();
  return (
    <UnstyledButton
      className="palette-entry"
      disabled={disabled}
      draggable={!disabled}
      onDragStart={(e) => {
        e.dataTransfer.setData(draggedType, JSON.stringify({ fields } satisfies Dragged));
        e.dataTransfer.effectAllowed = 'copy';
      }}
      onClick={onClick}
    >
      {Icon && <Icon size={18} />}
      <span>
        <Text span size="sm" display="block" dir="auto">
          <span className="visually-hidden">{t.addWord} </span>
          {name}
        </Text>
        {about && (
          <Text span size="xs" c="dimmed" display="block" lh={1.2}>
            {about}
          </Text>
        )}
      </span>
    </UnstyledButton>
  );
}
