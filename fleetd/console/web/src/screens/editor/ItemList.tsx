import {
  closestCenter,
  DndContext,
  type DragEndEvent,
  KeyboardSensor,
  PointerSensor,
  useSensor,
  useSensors,
} from '@dnd-kit/core';
import {
  SortableContext,
  sortableKeyboardCoordinates,
  useSortable,
  verticalListSortingStrategy,
} from '@dnd-kit/sortable';
import { CSS } from '@dnd-kit/utilities';
import { ActionIcon, Button, Checkbox, Group, Stack, Text, Tooltip } from '@mantine/core';
import {
  IconAlertCircle,
  IconAlertTriangle,
  IconChevronDown,
  IconChevronUp,
  IconCircleDashed,
  IconCopy,
  IconFolder,
  IconFolderOff,
  IconGripVertical,
  IconPencil,
  IconTrash,
} from '@tabler/icons-react';
import { type DragEvent, type KeyboardEvent, type MouseEvent, useState } from 'react';

import { position } from '../../text/position';
import { detailOf, summary } from './defaults';
import { type Dragged, draggedType } from './clipboard';
import {
  duplicate,
  find,
  flat,
  group,
  insert,
  type Item,
  itemOf,
  locate,
  move,
  moveBy,
  positionOf,
  remove,
  ungroup,
} from './model';
import { useNameOf } from '../library/api';
import { useSummaryWords } from './names';
import { icons } from './actions';
import { useProblemText } from './problemText';
import { useEditorTexts } from './text';
import { tick } from './selection';
import { isDraftAct, isUnfinished } from './unfinished';
import type { Editor } from './useEditor';

/** The list of actions or acts: chosen by click, ordered by drag, by buttons and by keys. */
export function ItemList({ editor }: { editor: Editor }) {
  const t = useEditorTexts();
  const { kind, doc, selected, mayEdit } = editor;
  const rows = flat(kind, doc);
  const sensors = useSensors(
    useSensor(PointerSensor, { activationConstraint: { distance: 4 } }),
    useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }),
  );
  const say = useProblemText(editor);
  const [dropAt, setDropAt] = useState<DropPlace>();
  const worst = new Map<string, string>();
  const said = new Map<string, string[]>();
  for (const p of editor.check.problems) {
    const { key } = locate(kind, doc, p.pointer);
    const how = isDraftAct(p) || (isUnfinished(p) && !editor.strict) ? 'missing' : p.severity;
    if (key && worst.get(key) !== 'error') worst.set(key, how);
    if (key) said.set(key, [...(said.get(key) ?? []), say(p).text]);
  }

  const onDragEnd = ({ active, over }: DragEndEvent) => {
    if (!over || over.id === active.id) return;
    const keys = selected.includes(String(active.id)) ? selected : [String(active.id)];
    const to = positionOf(doc, String(over.id));
    if (to && !keys.includes(String(over.id))) editor.change(move(kind, doc, keys, to));
  };
  const choose = (key: string, e: MouseEvent) => {
    if (e.ctrlKey || e.metaKey)
      return editor.select(selected.includes(key) ? selected.filter((k) => k !== key) : [...selected, key], true);
    const last = selected[selected.length - 1];
    if (e.shiftKey && last) {
      const [a, b] = [rows.findIndex((r) => r.item.key === last), rows.findIndex((r) => r.item.key === key)].sort(
        (x, y) => x - y,
      );
      return editor.select(rows.slice(a, b! + 1).map((r) => r.item.key));
    }
    return editor.select([key]);
  };
  const drop = () => {
    editor.change(remove(doc, selected));
    editor.select([]);
  };
  const copy = () => {
    const done = duplicate(kind, doc, selected);
    editor.change(done.doc);
    editor.select(done.keys);
  };
  const onKey = (e: KeyboardEvent) => {
    if (selected.length === 0 || !mayEdit || (e.target instanceof HTMLElement && e.target.dataset.drag)) return;
    const did = () => e.preventDefault();
    if (e.altKey && e.key === 'ArrowUp') (did(), editor.change(moveBy(kind, doc, selected, -1)));
    else if (e.altKey && e.key === 'ArrowDown') (did(), editor.change(moveBy(kind, doc, selected, 1)));
    else if (e.key === 'Delete') (did(), drop());
    else if (e.key === 'd' && (e.ctrlKey || e.metaKey)) (did(), copy());
    else if (e.key === 'Escape') editor.select([]);
  };
  /** Where something would stand that is dropped from the list of what can be added. */
  const placeOf = (e: DragEvent): DropPlace => {
    const row = (e.target as HTMLElement).closest('li');
    const key = row?.querySelector<HTMLElement>('[data-item]')?.dataset.item;
    if (!row || !key) return {};
    const box = row.getBoundingClientRect();
    return { key, side: e.clientY < box.top + box.height / 2 ? 'before' : 'after' };
  };
  const onDrag = (e: DragEvent) => {
    if (!mayEdit || !e.dataTransfer.types.includes(draggedType)) return;
    e.preventDefault();
    const next = placeOf(e);
    if (next.key !== dropAt?.key || next.side !== dropAt?.side) setDropAt(next);
  };
  const onDrop = (e: DragEvent) => {
    setDropAt(undefined);
    const text = e.dataTransfer.getData(draggedType);
    if (!text || !mayEdit) return;
    e.preventDefault();
    const { key, side } = placeOf(e);
    const place = key === undefined ? undefined : positionOf(doc, key);
    const at = place ? { ...place, index: place.index + (side === 'after' ? 1 : 0) } : { index: doc.items.length };
    const item = itemOf((JSON.parse(text) as Dragged).fields);
    editor.change(insert(kind, doc, at, [item]));
    editor.select([item.key]);
  };
  const chosen = selected.map((k) => find(doc, k)).filter((i) => i !== undefined);
  const none = !mayEdit || chosen.length === 0;

  return (
    <Stack
      gap="xs"
      component="section"
      aria-label={t.list[kind]}
      onKeyDown={onKey}
      onDragOver={onDrag}
      onDragLeave={(e) => !e.currentTarget.contains(e.relatedTarget as Node | null) && setDropAt(undefined)}
      onDrop={onDrop}
    >
      <Group gap={6} role="toolbar" aria-label={t.list[kind]}>
        <Button
          size="compact-sm"
          variant="default"
          disabled={none}
          leftSection={<IconCopy size={16} aria-hidden />}
          onClick={copy}
        >
          {t.copy}
        </Button>
        {kind === 'act' && (
          <>
            <Tooltip label={t.groupHelp}>
              <Button
                size="compact-sm"
                variant="default"
                disabled={none}
                leftSection={<IconFolder size={16} aria-hidden />}
                onClick={() => {
                  const done = group(doc, selected);
                  editor.change(done.doc);
                  if (done.key) editor.select([done.key]);
                }}
              >
                {t.group}
              </Button>
            </Tooltip>
            <Button
              size="compact-sm"
              variant="default"
              disabled={!mayEdit || chosen.length !== 1 || !chosen[0]!.children}
              leftSection={<IconFolderOff size={16} aria-hidden />}
              onClick={() => {
                const freed = chosen[0]!.children!.map((c) => c.key);
                editor.change(ungroup(doc, selected[0]!));
                editor.select(freed);
              }}
            >
              {t.ungroup}
            </Button>
          </>
        )}
        <Button
          size="compact-sm"
          variant="default"
          disabled={none}
          leftSection={<IconTrash size={16} aria-hidden />}
          onClick={drop}
        >
          {t.delete}
        </Button>
        <Text size="xs" c="dimmed" role="status">
          {editor.ticked ? t.chosen(selected.length) : ''}
        </Text>
      </Group>
      {rows.length === 0 && (
        <Text c="dimmed" py="lg" ta="center">
          {t.emptyList[kind]}
        </Text>
      )}
      <DndContext sensors={sensors} collisionDetection={closestCenter} onDragEnd={onDragEnd}>
        <SortableContext items={rows.map((r) => r.item.key)} strategy={verticalListSortingStrategy}>
          <ol className="items">
            {rows.map((r) => (
              <Row
                key={r.item.key}
                editor={editor}
                item={r.item}
                depth={r.depth}
                worst={worst.get(r.item.key)}
                said={said.get(r.item.key)?.join('\n')}
                drop={dropAt?.key === r.item.key ? dropAt.side : undefined}
                onChoose={choose}
                onTick={(key) => {
                  const next = tick({ keys: selected, ticked: editor.ticked }, key);
                  editor.select(next.keys, next.ticked);
                }}
              />
            ))}
          </ol>
        </SortableContext>
      </DndContext>
    </Stack>
  );
}

/** Beside which row something is dropped; without one, at the end. */
interface DropPlace {
  key?: string;
  side?: 'before' | 'after';
}

interface RowProps {
  editor: Editor;
  item: Item;
  depth: number;
  worst?: string;
  /** What is wrong with it. */
  said?: string;
  drop?: DropPlace['side'];
  onChoose: (key: string, e: MouseEvent) => void;
  onTick: (key: string) => void;
}

/** A color as people see it. */
export const ColorDot = ({ color }: { color: string }) => (
  <span className="color-dot" style={{ backgroundColor: color }} aria-hidden />
);

function Row({ editor, item, depth, worst, said, drop, onChoose, onTick }: RowProps) {
  const t = useEditorTexts();
  const { kind, doc, selected, mayEdit } = editor;
  const { attributes, listeners, setNodeRef, setActivatorNodeRef, transform, transition, isDragging } = useSortable({
    id: item.key,
    disabled: !mayEdit,
  });
  const actName = useNameOf('act');
  const act = typeof item.fields.act === 'string' ? item.fields.act : '';
  const words = useSummaryWords();
  const fields = act ? { ...item.fields, act: actName(act) } : item.fields;
  const what = summary(fields, editor.lang, words);
  const detail = detailOf(fields, editor.lang, words);
  const isChosen = selected.includes(item.key);
  const Icon = icons[kind === 'act' ? String(item.fields.type) : 'act'];
  return (
    <li
      ref={setNodeRef}
      className="item"
      data-chosen={isChosen || undefined}
      data-dragging={isDragging || undefined}
      data-drop={drop}
      style={{
        transform: CSS.Transform.toString(transform && { ...transform, scaleX: 1, scaleY: 1 }),
        transition,
        marginInlineStart: depth * 24,
      }}
    >
      <ActionIcon
        ref={setActivatorNodeRef}
        variant="subtle"
        color="gray"
        size={28}
        disabled={!mayEdit}
        {...attributes}
        {...listeners}
        data-drag
        aria-label={t.drag(what)}
        className="grip"
      >
        <IconGripVertical size={16} aria-hidden />
      </ActionIcon>
      <Checkbox
        size="xs"
        aria-label={t.choose(what)}
        checked={isChosen && editor.ticked}
        onChange={() => onTick(item.key)}
      />
      <button
        type="button"
        className="item-text"
        aria-pressed={isChosen}
        data-item={item.key}
        onClick={(e) => onChoose(item.key, e)}
      >
        {Icon && <Icon size={18} />}
        {/* What it says or does is what an author looks for; the icon shows its type, too. */}
        <span className="item-words">
          <span dir="auto">
            {typeof item.fields.colour === 'string' && <ColorDot color={item.fields.colour} />}
            {detail || what}
          </span>
          {kind === 'act' ? (
            <small>
              {[detail && item.fields.type, t.startsAt(position(Number(item.fields.start_ms ?? 0)))]
                .filter(Boolean)
                .join(', ')}
            </small>
          ) : (
            act !== '' && actName(act) !== act && <small dir="ltr">{act}</small>
          )}
        </span>
        {item.children?.length === 0 && <em>{t.emptyGroup}</em>}
        {worst && (
          <Tooltip label={said} multiline maw={360} style={{ whiteSpace: 'pre-line' }}>
            {worst === 'error' ? (
              <IconAlertCircle size={18} color="var(--mantine-color-red-6)" aria-label={t.error} />
            ) : worst === 'missing' ? (
              <IconCircleDashed size={16} color="var(--mantine-color-dimmed)" aria-label={t.todo} />
            ) : (
              <IconAlertTriangle size={16} color="var(--mantine-color-yellow-7)" aria-label={t.warning} />
            )}
          </Tooltip>
        )}
      </button>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={28}
        disabled={!mayEdit}
        aria-label={t.moveUp(what)}
        onClick={() => editor.change(moveBy(kind, doc, [item.key], -1))}
      >
        <IconChevronUp size={18} aria-hidden />
      </ActionIcon>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={28}
        disabled={!mayEdit}
        aria-label={t.moveDown(what)}
        onClick={() => editor.change(moveBy(kind, doc, [item.key], 1))}
      >
        <IconChevronDown size={18} aria-hidden />
      </ActionIcon>
      {/* On a phone the fields are below the whole list. */}
      {isChosen && !editor.ticked && (
        <Button
          className="item-fields"
          variant="light"
          size="compact-sm"
          leftSection={<IconPencil size={16} aria-hidden />}
          onClick={() => document.querySelector('[data-inspector]')?.scrollIntoView({ block: 'start' })}
        >
          {t.toFields}
        </Button>
      )}
    </li>
  );
}
