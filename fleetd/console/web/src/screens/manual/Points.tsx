import { ActionIcon, Checkbox, Group, Stack, Text, TextInput } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useState } from 'react';

import { usePoints } from '../../api/points';
import { useSend } from '../robot/ActionButton';
import { usePage } from '../robot/page';
import { CommandButton } from './CommandButton';
import type { Drive } from './drive';
import { Part } from './Part';
import { useManualTexts } from './text';
import { useTakes, useWhyNotManual } from './whyNot';

/** The points that the robot knows, and a new one where it stands. */
export function Points({ drive }: { drive?: Drive }) {
  const t = useManualTexts();
  const { id, detail } = usePage();
  const send = useSend();
  const whyNot = useWhyNotManual(drive);
  const whyNotGo = useWhyNotManual(drive, 'manual/goto');
  const known = usePoints(id, detail?.caps?.ts).data?.points;
  const points = known ?? [];
  const [angled, setAngled] = useState(true);
  const [name, setName] = useState('');
  const valid = /^[a-z0-9][a-z0-9-]*$/.test(name);
  const goes = useTakes('manual/goto');
  const saves = useTakes('manual/point-save');
  if (!goes && !saves) return null;
  return (
    <Part title={t.points}>
      {points.length === 0 ? (
        known && (
          <Text size="sm" c="dimmed">
            {t.pointsNone}
          </Text>
        )
      ) : (
        <Stack gap="xs">
          <Checkbox label={t.angled} checked={angled} onChange={(e) => setAngled(e.currentTarget.checked)} size="md" />
          <Group gap="xs">
            {points.map((p) => {
              // To go there without turning, the coordinates are sent instead of the name; points of the body's own map have none.
              const to = angled || !p.at ? { point: p.name } : { x_m: p.at.x_m, y_m: p.at.y_m };
              return (
                <Group gap={2} key={p.name} wrap="nowrap">
                  <CommandButton
                    whyNot={whyNotGo}
                    sends={['manual/goto', { ...to, speed_mps: drive?.speed.mps }, t.go(p.name)]}
                  >
                    <span dir="auto">{p.name}</span>
                  </CommandButton>
                  {p.from === 'taught' && (
                    <ActionIcon
                      size={48}
                      variant="subtle"
                      color="red.9"
                      disabled={!!whyNot}
                      aria-label={t.forget(p.name)}
                      onClick={() => void send('manual/point-delete', { point: p.name }, t.forget(p.name))}
                    >
                      <IconTrash size={20} aria-hidden />
                    </ActionIcon>
                  )}
                </Group>
              );
            })}
          </Group>
        </Stack>
      )}
      {saves && (
        <Group align="center" gap="xs">
          <TextInput
            label={t.pointName}
            description={t.pointNameHelp}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            error={name !== '' && !valid}
            value={name}
            maxLength={63}
            size="md"
            onChange={(e) => setName(e.currentTarget.value)}
          />
          <CommandButton
            whyNot={whyNot}
            lacks={!name ? t.needName : valid ? '' : t.pointNameHelp}
            sends={['manual/point-save', { point: name }, t.saved(name)]}
          >
            {t.savePoint}
          </CommandButton>
        </Group>
      )}
    </Part>
  );
}
