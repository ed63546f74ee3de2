import { Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';

import type { Schemas } from '../../api/client';
import { verbLine } from '../../api/commandline';
import { texts } from '../../text/language';
import { ActionButton, useSend, useWhyNot } from './ActionButton';
import { useModeOfRobot } from './Modes';
import { Nothing, Panel } from './Panel';
import { usePage } from './page';
import { outside, SettingField } from './SettingField';
import { same, type Setting, valueText } from './settings';
import { useRobotTexts } from './text';

const useTexts = texts(
  {
    title: 'Parameters of modes',
    none: 'The modes of this robot have no parameters.',
    help: 'They take effect at once, and the robot keeps them over a restart.',
    now: (value: string, standard: string) => `now: ${value}, default: ${standard}`,
    set: 'Set',
    reset: 'Default',
    isDefault: 'it is the default already',
    unchanged: 'it is not changed',
    bounds: 'it is out of its bounds',
    label: (name: string, value: string) => `${name} = ${value}`,
    toDefault: (name: string) => `${name} = default`,
  },
  {
    title: 'Parameter der Modi',
    none: 'Die Modi dieses Roboters haben keine Parameter.',
    help: 'Sie gelten sofort, und der Roboter behält sie über einen Neustart.',
    now: (value: string, standard: string) => `gemeldet: ${value}, Vorgabe: ${standard}`,
    set: 'Setzen',
    reset: 'Vorgabe',
    isDefault: 'es ist schon die Vorgabe',
    unchanged: 'es ist nicht geändert',
    bounds: 'es liegt außerhalb der Grenzen',
    label: (name: string, value: string) => `${name} = ${value}`,
    toDefault: (name: string) => `${name} = Vorgabe`,
  },
  {
    title: 'Réglages des modes',
    none: 'Les modes de ce robot n’ont pas de réglages.',
    help: 'Ils prennent effet aussitôt, et le robot les garde après un redémarrage.',
    now: (value, standard) => `maintenant : ${value}, par défaut : ${standard}`,
    set: 'Régler',
    reset: 'Par défaut',
    isDefault: 'c’est déjà la valeur par défaut',
    unchanged: 'la valeur n’a pas changé',
    bounds: 'la valeur est hors de ses limites',
    label: (name, value) => `${name} = ${value}`,
    toDefault: (name) => `${name} = par défaut`,
  },
);

type Param = Schemas['SchemaModeParam'];

/** The parameters of modes as the robot lists them, each with its field. */
export function ModeParams() {
  const t = useTexts();
  const name = useModeOfRobot();
  const { loading } = useRobotTexts();
  const { detail } = usePage();
  const modes = (detail?.modes?.modes ?? []).filter((m) => (m.params ?? []).length > 0);
  return (
    <Panel title={t.title}>
      <Nothing>{!detail ? loading : modes.length === 0 ? t.none : t.help}</Nothing>
      {modes.map((m) => (
        <Stack key={m.id} gap="xs">
          <Text fw={500} size="sm">
            {name(m.id)}
          </Text>
          {m.params!.map((p) => (
            <One key={p.name} mode={m.id} param={p} />
          ))}
        </Stack>
      ))}
    </Panel>
  );
}

function One({ mode, param }: { mode: string; param: Param }) {
  const t = useTexts();
  const { id } = usePage();
  const send = useSend();
  const whyNot = useWhyNot();
  const [value, setValue] = useState<unknown>(param.value);
  const schema: Setting = {
    type: param.type === 'word' ? 'string' : param.type,
    enum: param.one_of,
    minimum: param.min ?? undefined,
    maximum: param.max ?? undefined,
  };
  const name = `${mode} ${param.name}`;
  let why = '';
  if (value === undefined || same(value, param.value)) why = t.unchanged;
  else if (outside(value, schema)) why = t.bounds;
  return (
    <Group align="flex-end" gap="xs">
      <Stack gap={0} flex={1} miw={200}>
        <Text size="sm">
          {param.name} {param.unit && `(${param.unit})`}
        </Text>
        <Text size="xs" c="dimmed" dir="auto">
          {param.purpose}; {t.now(valueText(param.value), valueText(param.default))}
        </Text>
      </Stack>
      <SettingField name={name} schema={schema} value={value} onChange={setValue} />
      <ActionButton
        whyNot={whyNot || why}
        label={`${t.set}: ${name}`}
        sends={['mode/param', { mode, name: param.name, value }, t.label(name, valueText(value))]}
      >
        {t.set}
      </ActionButton>
      <ActionButton
        whyNot={whyNot || (same(param.value, param.default) ? t.isDefault : '')}
        line={verbLine('mode/param', { mode, name: param.name }, [id])}
        label={`${t.reset}: ${name}`}
        onClick={async () => {
          await send('mode/param', { mode, name: param.name }, t.toDefault(name));
          setValue(param.default);
        }}
      >
        {t.reset}
      </ActionButton>
    </Group>
  );
}
