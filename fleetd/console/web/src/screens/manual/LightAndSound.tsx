import { Box, CheckIcon, ColorInput, ColorSwatch, Group, Select, Slider, Text, Textarea } from '@mantine/core';
import { useState } from 'react';

import { unitOf } from '../../live/units';
import { useSend } from '../robot/ActionButton';
import { usePage } from '../robot/page';
import { CommandButton } from './CommandButton';
import type { Drive } from './drive';
import { Part } from './Part';
import { useManualTexts } from './text';
import { hasVolume } from './volume';
import { useWhyNotManual } from './whyNot';

/** Colours at hand; any other one is written or picked. */
const colours = {
  white: '#ffffff',
  red: '#e03131',
  orange: '#f08c00',
  green: '#2f9e44',
  blue: '#1971c2',
  violet: '#9c36b5',
} as const;
const patterns = ['solid', 'blink', 'breathe', 'rainbow'] as const;

/** Lights, sounds and speech of the robot, as far as it has them. */
export function LightAndSound({ drive }: { drive?: Drive }) {
  const units = usePage().detail?.caps?.units ?? [];
  const speaker = unitOf(units, 'speaker');
  return (
    <>
      {unitOf(units, 'led') && <Lights drive={drive} />}
      {speaker && <Sound sounds={speaker.sounds ?? []} settable={hasVolume(units)} drive={drive} />}
    </>
  );
}

function Lights({ drive }: { drive?: Drive }) {
  const t = useManualTexts();
  const whyNot = useWhyNotManual(drive);
  const [colour, setColour] = useState('#3b5bdb');
  const [pattern, setPattern] = useState<(typeof patterns)[number]>('solid');
  return (
    <Part title={t.lights}>
      <Group gap={2} role="group" aria-label={t.colour}>
        {Object.entries(colours).map(([name, hex]) => (
          <ColorSwatch
            key={name}
            component="button"
            type="button"
            color={hex}
            size={48}
            aria-label={t.colours[name as keyof typeof colours]}
            aria-pressed={colour === hex}
            style={{ cursor: 'pointer' }}
            onClick={() => setColour(hex)}
          >
            {colour === hex && <CheckIcon size={16} color={hex === colours.white ? 'black' : 'white'} />}
          </ColorSwatch>
        ))}
      </Group>
      <Group align="flex-end" gap="xs">
        <ColorInput
          label={t.otherColour}
          value={colour}
          onChange={setColour}
          format="hex"
          size="md"
          w={150}
          withEyeDropper={false}
        />
        <Select
          label={t.pattern}
          value={pattern}
          onChange={(v) => v && setPattern(v as typeof pattern)}
          allowDeselect={false}
          size="md"
          w={140}
          data={patterns.map((p) => ({ value: p, label: t.patterns[p] }))}
        />
        <CommandButton
          whyNot={whyNot}
          sends={['manual/led', { colour, pattern }, t.lightSent(`${colour}, ${t.patterns[pattern]}`)]}
        >
          {t.light}
        </CommandButton>
      </Group>
    </Part>
  );
}

function Sound({ sounds, settable, drive }: { sounds: readonly string[]; settable: boolean; drive?: Drive }) {
  const t = useManualTexts();
  const send = useSend();
  const { detail } = usePage();
  const whyNot = useWhyNotManual(drive);
  const languages = detail?.caps?.languages ?? [];
  const [volume, setVolume] = useState(70);
  const [sound, setSound] = useState<string | null>(sounds[0] ?? null);
  const [text, setText] = useState('');
  const [language, setLanguage] = useState<string | null>(null);
  return (
    <Part title={t.sound}>
      {settable && (
        <Box>
          <Text size="sm">
            {t.volume}: {volume} %
          </Text>
          <Slider
            value={volume}
            onChange={setVolume}
            onChangeEnd={(v) => void send('manual/volume', { volume: v / 100 }, t.volumeSent(v))}
            disabled={!!whyNot}
            label={null}
            thumbSize={28}
            size="lg"
            my="sm"
            thumbLabel={t.volume}
          />
        </Box>
      )}
      {sounds.length > 0 && (
        <Group align="flex-end" gap="xs">
          <Select
            label={t.chooseSound}
            value={sound}
            onChange={setSound}
            data={[...sounds]}
            searchable={sounds.length > 12} // the keyboard of a phone would cover a short list
            allowDeselect={false}
            size="md"
            flex={1}
          />
          <CommandButton
            whyNot={whyNot}
            lacks={sound ? '' : t.chooseSound}
            sends={['manual/sound', { sound }, t.playSent(sound ?? '')]}
          >
            {t.play}
          </CommandButton>
        </Group>
      )}
      <Textarea
        label={t.sayText}
        value={text}
        onChange={(e) => setText(e.currentTarget.value)}
        maxLength={1000}
        autosize
        minRows={2}
        size="md"
        dir="auto"
      />
      <Group align="flex-end" gap="xs">
        {languages.length > 1 && (
          <Select
            label={t.language}
            value={language}
            onChange={setLanguage}
            data={[...languages]}
            clearable
            size="md"
            w={130}
          />
        )}
        <CommandButton
          whyNot={whyNot}
          lacks={text.trim() ? '' : t.needText}
          sends={['manual/say', { text, ...(language && { language }) }, t.saySent]}
        >
          {t.say}
        </CommandButton>
      </Group>
    </Part>
  );
}
