import { Box, Button, Group, SimpleGrid, Slider, Stack, Text, useDirection } from '@mantine/core';
import {
  IconMoodAngry,
  IconMoodEmpty,
  IconMoodHappy,
  IconMoodHeart,
  IconMoodLookUp,
  IconMoodNeutral,
  IconMoodSad,
  IconMoodSmile,
  IconMoodSurprised,
  IconMoodWink,
  IconZzz,
} from '@tabler/icons-react';
import { useState } from 'react';

import { unitOf } from '../../live/units';
import type { Schemas } from '../../api/client';
import { verbLine } from '../../api/commandline';
import type { Verb } from '../../contract';
import { useSend } from '../robot/ActionButton';
import { degrees } from '../../text/time';
import { usePage } from '../robot/page';
import { CommandButton } from './CommandButton';
import type { Drive } from './drive';
import { Part } from './Part';
import { useManualTexts } from './text';
import { useWhyNotManual } from './whyNot';

type Unit = Schemas['SchemaUnit'];

/** Head and face of the robot, as far as it has them. */
export function HeadAndFace({ drive }: { drive?: Drive }) {
  const units = usePage().detail?.caps?.units ?? [];
  const head = unitOf(units, 'head');
  const face = unitOf(units, 'face');
  return (
    <>
      {head && <Head unit={head} drive={drive} />}
      {face && <Faces unit={face} drive={drive} />}
    </>
  );
}

function Head({ unit, drive }: { unit: Unit; drive?: Drive }) {
  const t = useManualTexts();
  const send = useSend();
  const whyNot = useWhyNotManual(drive, 'manual/head');
  const [yaw, setYaw] = useState(0);
  const [pitch, setPitch] = useState(0);
  // The robot's left is on the left, also where a slider begins on the right.
  const side = useDirection().dir === 'rtl' ? 1 : -1;
  const look = (y: number, p: number): [Verb, Record<string, unknown>, string] => [
    'manual/head',
    { ...(unit.yaw_rad && { yaw_rad: y }), ...(unit.pitch_rad && { pitch_rad: p }) },
    t.look,
  ];
  return (
    <Part title={t.head}>
      {unit.yaw_rad && (
        <Turn
          label={t.yaw}
          says={t.turned(degrees(yaw))}
          range={side > 0 ? unit.yaw_rad : { min: -unit.yaw_rad.max, max: -unit.yaw_rad.min }}
          value={side * yaw}
          off={!!whyNot}
          onChange={(v) => setYaw(side * v)}
          onEnd={(v) => void send(...look(side * v, pitch))}
        />
      )}
      {unit.pitch_rad && (
        <Turn
          label={t.pitch}
          says={`${degrees(pitch)}°`}
          range={unit.pitch_rad}
          value={pitch}
          off={!!whyNot}
          onChange={setPitch}
          onEnd={(v) => void send(...look(yaw, v))}
        />
      )}
      <Group gap="xs">
        <CommandButton
          whyNot={whyNot}
          sends={look(0, 0)}
          first={() => {
            setYaw(0);
            setPitch(0);
          }}
        >
          {t.straight}
        </CommandButton>
        {unit.motions?.map((m) => (
          <CommandButton key={m} whyNot={whyNot} sends={['manual/head-motion', { motion: m }, t.motion(m)]}>
            {m}
          </CommandButton>
        ))}
      </Group>
    </Part>
  );
}

function Turn(p: {
  label: string;
  /** Where it looks. */
  says: string;
  range: { min: number; max: number };
  value: number;
  off: boolean;
  onChange: (v: number) => void;
  onEnd: (v: number) => void;
}) {
  return (
    <Box>
      <Text size="sm">
        {p.label}: {p.says}
      </Text>
      <Slider
        min={p.range.min}
        max={p.range.max}
        step={0.05}
        value={p.value}
        disabled={p.off}
        onChange={p.onChange}
        onChangeEnd={p.onEnd}
        label={null}
        thumbSize={28}
        size="lg"
        my="sm"
        thumbLabel={p.label}
        thumbProps={{ 'aria-valuetext': p.says }}
      />
    </Box>
  );
}

const faces: Record<string, typeof IconMoodSmile> = {
  laugh: IconMoodHappy,
  neutral: IconMoodNeutral,
  sad: IconMoodSad,
  sleepy: IconZzz,
  smile: IconMoodSmile,
  surprised: IconMoodSurprised,
  thinking: IconMoodLookUp,
  wink: IconMoodWink,
  angry: IconMoodAngry,
  love: IconMoodHeart,
};

function Faces({ unit, drive }: { unit: Unit; drive?: Drive }) {
  const t = useManualTexts();
  const send = useSend();
  const { id } = usePage();
  const whyNot = useWhyNotManual(drive);
  const [shown, setShown] = useState('');
  return (
    <Part title={t.faces}>
      <SimpleGrid cols={4} spacing="xs">
        {unit.faces?.map((name) => {
          const Icon = faces[name] ?? IconMoodEmpty;
          return (
            <Button
              key={name}
              h={72}
              px={4}
              color="indigo.8"
              variant={shown === name ? 'filled' : 'default'}
              aria-pressed={shown === name}
              aria-disabled={!!whyNot || undefined}
              data-disabled={!!whyNot || undefined}
              title={whyNot || undefined}
              data-line={verbLine('manual/face', { face: name }, [id])}
              onClick={() => {
                if (whyNot) return;
                setShown(name);
                void send('manual/face', { face: name }, t.face(name));
              }}
            >
              <Stack gap={0} align="center">
                <Icon size={30} aria-hidden />
                <Text span size="xs">
                  {name}
                </Text>
              </Stack>
            </Button>
          );
        })}
      </SimpleGrid>
    </Part>
  );
}
