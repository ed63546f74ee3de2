import { ActionIcon, Button, Group, Modal, Radio, Stack, Text, TextInput } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useState } from 'react';

import { api } from '../../api/client';
import { lineOf } from '../../api/lines';
import { problemOf } from '../../api/problem';
import { colorLabel, nameLabel, robotColors } from '../../live/drawnFrom';
import { CommandLine } from '../../shell/CommandLine';
import { texts } from '../../text/language';
import { usePage } from './page';
import { useRobotTexts } from './text';

const useTexts = texts(
  {
    title: (robot: string) => `Labels of ${robot}`,
    name: 'Name',
    nameHelp: (id: string) =>
      `Shown with ${id} on Overview, in Robots, Commands and the search, and on its page. The label name keeps it.`,
    color: 'Colour of its picture',
    anyColor: 'by its id',
    colors: {
      indigo: 'indigo',
      teal: 'teal',
      orange: 'orange',
      grape: 'purple',
      lime: 'lime',
      pink: 'pink',
      cyan: 'cyan',
      yellow: 'yellow',
      violet: 'violet',
      green: 'green',
    },
    help: 'Stops, stories and settings can be given to all robots with a label. The label site says where the robot is.',
    key: 'Label',
    value: 'Value',
    add: 'Add a label',
    remove: (key: string) => `Remove ${key}`,
    save: 'Save',
  },
  {
    title: (robot: string) => `Labels von ${robot}`,
    name: 'Name',
    nameHelp: (id: string) =>
      `Steht mit ${id} in der Übersicht, unter Roboter, unter Befehle, in der Suche und auf seiner Seite. Das Label name bewahrt ihn auf.`,
    color: 'Farbe seines Bildes',
    anyColor: 'nach seiner Id',
    colors: {
      indigo: 'indigo',
      teal: 'blaugrün',
      orange: 'orange',
      grape: 'purpur',
      lime: 'limette',
      pink: 'rosa',
      cyan: 'cyan',
      yellow: 'gelb',
      violet: 'violett',
      green: 'grün',
    },
    help: 'Stopps, Geschichten und Einstellungen können allen Robotern mit einem Label gelten. Das Label site sagt, wo der Roboter ist.',
    key: 'Label',
    value: 'Wert',
    add: 'Label hinzufügen',
    remove: (key: string) => `${key} entfernen`,
    save: 'Speichern',
  },
  {
    title: (robot) => `Étiquettes de ${robot}`,
    name: 'Nom',
    nameHelp: (id) =>
      `Montré avec ${id} dans la vue d’ensemble, dans Robots, Commandes et la recherche, et sur sa page. L’étiquette name le garde.`,
    color: 'Couleur de son image',
    anyColor: 'selon son identifiant',
    colors: {
      indigo: 'indigo',
      teal: 'bleu canard',
      orange: 'orange',
      grape: 'pourpre',
      lime: 'vert citron',
      pink: 'rose',
      cyan: 'cyan',
      yellow: 'jaune',
      violet: 'violet',
      green: 'vert',
    },
    help: 'Arrêts, histoires et réglages peuvent être donnés à tous les robots d’une étiquette. L’étiquette site dit où est le robot.',
    key: 'Étiquette',
    value: 'Valeur',
    add: 'Ajouter une étiquette',
    remove: (key) => `Retirer ${key}`,
    save: 'Enregistrer',
  },
);

/** Changes the labels of the robot. fleetd keeps them, so it need not be connected. */
export function Labels({ onClose }: { onClose: () => void }) {
  const t = useTexts();
  const common = useRobotTexts();
  const { id, robot } = usePage();
  const [rows, setRows] = useState<[string, string][]>(() => {
    const { site = '', [nameLabel]: _name, [colorLabel]: _color, ...others } = robot.labels;
    return [['site', site], ...Object.entries(others)];
  });
  const [name, setName] = useState(robot.labels[nameLabel] ?? '');
  const [color, setColor] = useState(robot.labels[colorLabel] ?? '');
  const [refused, setRefused] = useState('');
  const [busy, setBusy] = useState(false);
  const edit = (i: number, at: 0 | 1, text: string) =>
    setRows(rows.map((r, n) => (n === i ? (at === 0 ? [text, r[1]] : [r[0], text]) : r)));
  const all: [string, string][] = [...rows, [nameLabel, name], [colorLabel, color]];
  const labels = Object.fromEntries(all.map(([k, v]) => [k.trim(), v.trim()]).filter(([k, v]) => k && v));
  const unset = Object.keys(robot.labels).filter((k) => !(k in labels));
  const cli = lineOf('label-robots', { body: { selector: { ids: [id] }, set: labels, unset } });
  const save = async () => {
    setBusy(true);
    try {
      await api.PUT('/api/v1/robots/{id}/labels', { params: { path: { id } }, body: { labels } });
      onClose();
    } catch (thrown) {
      const p = problemOf(thrown);
      setRefused([p.message, p.hint].filter(Boolean).join('; '));
    }
    setBusy(false);
  };
  return (
    <Modal opened onClose={onClose} title={t.title(id)} closeButtonProps={{ 'aria-label': common.close }}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void save();
        }}
      >
        <Stack>
          <TextInput
            label={t.name}
            description={t.nameHelp(id)}
            value={name}
            dir="auto"
            data-autofocus
            onChange={(e) => setName(e.currentTarget.value)}
          />
          <Radio.Group label={t.color} value={color} onChange={setColor}>
            <Group gap="xs" mt={4}>
              <Radio value="" label={t.anyColor} />
              {robotColors.map((c) => (
                <Radio key={c} value={c} color={c} label={t.colors[c as keyof typeof t.colors]} />
              ))}
            </Group>
          </Radio.Group>
          <Text size="sm">{t.help}</Text>
          {rows.map(([key, value], i) => (
            <Group key={i} wrap="nowrap" align="flex-end" gap="xs">
              <TextInput
                label={t.key}
                value={key}
                readOnly={key === 'site' && i === 0}
                flex={1}
                onChange={(e) => edit(i, 0, e.currentTarget.value)}
              />
              <TextInput
                label={t.value}
                value={value}
                flex={1}
                dir="auto"
                onChange={(e) => edit(i, 1, e.currentTarget.value)}
              />
              <ActionIcon
                variant="default"
                size={36}
                aria-label={t.remove(key)}
                onClick={() => setRows(rows.filter((_, n) => n !== i))}
              >
                <IconTrash size={16} aria-hidden />
              </ActionIcon>
            </Group>
          ))}
          {refused && (
            <Text size="sm" c="red" role="alert">
              {refused}
            </Text>
          )}
          <Group justify="space-between">
            <Button variant="subtle" onClick={() => setRows([...rows, ['', '']])}>
              {t.add}
            </Button>
            <CommandLine lines={[cli]} />
            <Button type="submit" loading={busy}>
              {t.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
