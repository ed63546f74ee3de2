import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useNavigate } from 'react-router';

import { lineOf } from '../../api/lines';
import { CommandLine } from '../../shell/CommandLine';
import { useLanguage } from '../../text/language';
import { type Fields, plural } from '../editor/model';
import { duplicate, type Kind, save, useRefresh } from './api';
import { Refused } from '../../shell/Refused';
import { useLibraryTexts } from './text';

const valid = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** An id made of a name: "Good morning!" becomes good-morning. */
export const idOf = (name: string) =>
  name
    .toLowerCase()
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 63);

/** What a new entry has, so that its author sees at once what belongs there. */
function content(kind: Kind, id: string, name: Fields): Fields {
  if (kind === 'act') return { act: id, name, actions: [] };
  if (kind === 'story') return { story: id, name, repeat: 'loop', on_act_error: 'skip', acts: [] };
  return {
    activity: id,
    name,
    nature: 'interactive',
    repeat: 'once',
    launch: { when: 'people > 0', for: '2s', cooldown: '1m' },
    acts: [],
  };
}

interface Props {
  kind: Kind;
  taken: readonly string[];
  onClose: () => void;
  /** Goes on with what was made; otherwise its editor is opened. */
  onMade?: (id: string) => Promise<void>;
}

/** Asks for the name of a new entry, makes its draft and opens it. */
export function NewDialog({ kind, taken, onClose, onMade }: Props) {
  const t = useLibraryTexts();
  const language = useLanguage((s) => s.language);
  const [name, setName] = useState('');
  const [own, setOwn] = useState<string>();
  const id = own ?? idOf(name);
  return (
    <Form
      kind={kind}
      title={t.newTitle[kind]}
      submit={t.make}
      id={id}
      taken={taken}
      onClose={onClose}
      onMade={onMade}
      send={() => save(kind, id, content(kind, id, { [language]: name.trim() || id }), 0)}
    >
      {(free) => (
        <>
          <TextInput
            label={t.displayName}
            value={name}
            maxLength={64}
            data-autofocus
            onChange={(e) => setName(e.currentTarget.value)}
            dir="auto"
          />
          <IdInput label={t.id} value={id} taken={free} onChange={setOwn} />
        </>
      )}
    </Form>
  );
}

/** Asks for the id of a copy, makes it and opens it. */
export function DuplicateDialog({ kind, id, taken, onClose }: Props & { id: string }) {
  const t = useLibraryTexts();
  const [to, setTo] = useState(`${id}-2`.slice(0, 63));
  return (
    <Form
      kind={kind}
      title={t.copyTitle(id)}
      line={valid.test(to) ? lineOf(`duplicate-${kind}`, { path: { id }, body: { id: to } }) : undefined}
      submit={t.copy}
      id={to}
      taken={taken}
      onClose={onClose}
      send={() => duplicate(kind, id, to)}
    >
      {(free) => <IdInput label={t.copyId} value={to} taken={free} onChange={setTo} autofocus />}
    </Form>
  );
}

function IdInput({
  label,
  value,
  taken,
  onChange,
  autofocus,
}: {
  label: string;
  value: string;
  taken: readonly string[];
  onChange: (id: string) => void;
  autofocus?: boolean;
}) {
  const t = useLibraryTexts();
  const error = value && !valid.test(value) ? t.idBad : taken.includes(value) ? t.idTaken : undefined;
  return (
    <TextInput
      label={label}
      description={t.idHelp}
      value={value}
      error={error}
      required
      data-autofocus={autofocus}
      onChange={(e) => onChange(e.currentTarget.value)}
    />
  );
}

interface FormProps extends Props {
  title: string;
  submit: string;
  line?: string;
  id: string;
  send: () => Promise<unknown>;
  /** The fields. The ids that are taken do not include the one that is being made. */
  children: (taken: readonly string[]) => ReactNode;
}

function Form({ kind, title, submit, line, id, taken, onClose, onMade, send, children }: FormProps) {
  const t = useLibraryTexts();
  const navigate = useNavigate();
  const refresh = useRefresh();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const onSubmit = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    try {
      await send();
      await refresh();
      if (onMade) await onMade(id);
      else void navigate(`/${plural[kind]}/${id}`);
    } catch (thrown) {
      setError(thrown);
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ 'aria-label': t.close }}>
      <form onSubmit={(e) => void onSubmit(e)}>
        <Stack>
          {children(busy ? [] : taken)}
          {error !== undefined && <Refused error={error} />}
          <Group justify="flex-end">
            {line && <CommandLine lines={[line]} />}
            <Button variant="default" onClick={onClose}>
              {t.cancel}
            </Button>
            <Button type="submit" loading={busy} disabled={!valid.test(id) || taken.includes(id)}>
              {submit}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
