import { Accordion, Anchor, SegmentedControl, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';

import { position } from '../../text/position';
import { find, flat, type Item, type Kind, move, positionOf, setField, setHead } from './model';
import { useNames } from './names';
import { pathFrom } from './origin';
import { SavedLink } from './SavedLink';
import { type Schema, schemaOf } from './schemas';
import { Field } from './fields/Field';
import { useEditorTexts } from './text';
import type { Editor } from './useEditor';

/** Fields that few authors need: below the others. */
const rare = new Set(['id', 'unit', 'method', 'on_resume', 'labels', 'voice', 'rate']);
/** Fields of their own places: the list, the type, and the id, which never changes. */
const elsewhere: Record<Kind, string[]> = {
  act: ['act', 'actions'],
  story: ['story', 'acts'],
  activity: ['activity', 'acts'],
};
/** What an action says, shows or does is what an author looks for; when it does so follows. */
const order = [
  'launch',
  'nature',
  'name',
  'act',
  'text',
  'sound',
  'face',
  'motion',
  'view',
  'image',
  'choices',
  'point',
  'x_m',
  'y_m',
  'theta_rad',
  'colour',
  'pattern',
  'yaw_rad',
  'pitch_rad',
  'roll_rad',
  'height_m',
  'vx_mps',
  'vy_mps',
  'wz_radps',
  'languages',
  'repeat',
  'on_act_error',
  'start_ms',
  'end_ms',
  'timeout_ms',
];
const rank = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);

/** The fields of what is chosen, or of the whole, as the schema has them. */
export function Inspector({ editor, schema }: { editor: Editor; schema: Schema }) {
  const t = useEditorTexts();
  const { kind, doc, selected } = editor;
  const [whole, setWhole] = useState(false);
  const item = selected.length === 1 ? find(doc, selected[0]) : undefined;
  const showWhole = whole || selected.length === 0;
  return (
    <Stack gap="sm" component="section" aria-label={t.inspector} data-inspector>
      <SegmentedControl
        fullWidth
        size="xs"
        aria-label={t.inspector}
        value={showWhole ? 'whole' : 'item'}
        onChange={(v) => setWhole(v === 'whole')}
        data={[
          { value: 'item', label: t.selected[kind], disabled: selected.length === 0 },
          { value: 'whole', label: t.whole[kind] },
        ]}
      />
      {showWhole && (
        <Form
          key="head"
          schema={schema}
          of={schema}
          editor={editor}
          values={doc.head}
          leaveOut={elsewhere[kind]}
          onChange={(name, v) => editor.change(setHead(doc, name, v), `head/${name}`)}
        />
      )}
      {!showWhole && selected.length > 1 && <Text size="sm">{t.several(selected.length)}</Text>}
      {!showWhole && item && <ItemForm key={item.key} editor={editor} schema={schema} item={item} />}
    </Stack>
  );
}

function ItemForm({ editor, schema, item }: { editor: Editor; schema: Schema; item: Item }) {
  const t = useEditorTexts();
  const { kind, doc } = editor;
  const of = schemaOf(schema, kind, item);
  const act = typeof item.fields.act === 'string' ? item.fields.act : '';
  if (!of) return null;
  return (
    <>
      <Text size="sm" c="dimmed">
        {of.description}
      </Text>
      <Form
        schema={schema}
        of={of}
        editor={editor}
        values={item.fields}
        leaveOut={['type', 'actions']}
        onChange={(name, v) => editor.change(setField(kind, doc, item.key, name, v), `${item.key}/${name}`)}
      />
      {kind === 'act' && <InGroup editor={editor} item={item} />}
      {act && (
        <Anchor component={SavedLink} editor={editor} to={pathFrom(act, editor)} size="sm">
          {t.openAct}
        </Anchor>
      )}
    </>
  );
}

/** Moves an action into a group or out of it, without a drag. */
function InGroup({ editor, item }: { editor: Editor; item: Item }) {
  const t = useEditorTexts();
  const { doc } = editor;
  const groups = flat('act', doc).filter((r) => r.item.children && !find({ head: {}, items: [item] }, r.item.key));
  const at = positionOf(doc, item.key);
  if (groups.length === 0) return null;
  return (
    <Select
      label={t.inGroup}
      value={at?.parent ?? ''}
      disabled={!editor.mayEdit}
      allowDeselect={false}
      data={[
        { value: '', label: t.noGroup },
        ...groups.map((g) => ({
          value: g.item.key,
          label: t.groupAt(position(Number(g.item.fields.start_ms ?? 0))),
        })),
      ]}
      onChange={(v) => {
        const parent = v || undefined;
        if (parent !== at?.parent)
          editor.change(
            move('act', doc, [item.key], {
              parent,
              index: (parent ? find(doc, parent)?.children : doc.items)?.length ?? 0,
            }),
          );
      }}
    />
  );
}

interface FormProps {
  schema: Schema;
  of: Schema;
  editor: Editor;
  values: Record<string, unknown>;
  leaveOut: readonly string[];
  onChange: (name: string, value: unknown) => void;
}

function Form({ schema, of, editor, values, leaveOut, onChange }: FormProps) {
  const t = useEditorTexts();
  const names = useNames();
  const fields = Object.keys(of.properties ?? {})
    .filter((n) => !leaveOut.includes(n))
    .sort((a, b) => rank(a) - rank(b));
  const draw = (name: string) => (
    <Field
      key={name}
      name={name}
      root={schema}
      schema={of.properties![name]!}
      value={values[name]}
      required={of.required?.includes(name)}
      values={values}
      names={names}
      disabled={!editor.mayEdit}
      onChange={(v) => onChange(name, v)}
    />
  );
  const advanced = fields.filter((n) => rare.has(n));
  return (
    <Stack gap="sm">
      {fields.filter((n) => !rare.has(n)).map(draw)}
      {advanced.length > 0 && (
        <Accordion variant="contained" defaultValue={advanced.some((n) => values[n] !== undefined) ? 'more' : null}>
          <Accordion.Item value="more">
            <Accordion.Control>
              <Text size="sm">{t.advanced}</Text>
            </Accordion.Control>
            <Accordion.Panel>
              <Stack gap="sm">{advanced.map(draw)}</Stack>
            </Accordion.Panel>
          </Accordion.Item>
        </Accordion>
      )}
    </Stack>
  );
}
