import { Group, Switch, Text } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { useEffect, useMemo, useSyncExternalStore } from 'react';

import { DrawnRobot } from '../../live/DrawnRobot';
import { wholeBody } from '../../live/drawn';
import { performedAt } from '../../live/performed';
import { actsOf, flat } from './model';
import { barsOf } from './layout';
import { type Hear, playSound, Player, speak } from './player';
import { cueOf, cuesOf } from './preview';
import { useSoundAddresses } from './sounds';
import { useTimelineTexts } from './timelineText';
import type { Editor } from './useEditor';

const nothingKnown = { acts: new Map<string, number>(), sounds: new Map<string, number>() };
const nobodySaid = { drawn: false, incomplete: new Set<string>(), conflicts: new Set<string>() };

/** A frame of the drawn robot, in ms: often enough for eyes and words. */
const frame = 50;

/** The drawn robot as the draft has it at the cursor. */
export function Preview({ editor, player }: { editor: Editor; player: Player }) {
  const t = useTimelineTexts();
  const { kind, doc, lang } = editor;
  const { timeline } = editor.check;
  const addresses = useSoundAddresses();
  const [sound, setSound] = useLocalStorage({ key: 'troupe.editor.sound', defaultValue: true });
  const cues = useMemo(() => {
    if (timeline?.actions) return cuesOf(timeline, lang);
    // Before fleetd has drawn it, such as while its first action is not written yet.
    if (kind !== 'act' || actsOf(kind, doc).length > 0) return [];
    return barsOf(kind, doc, nothingKnown, nobodySaid)
      .map((b) => cueOf(b.start, b.end, b.item.fields, lang))
      .sort((a, b) => a.start - b.start);
  }, [timeline, doc, lang]);
  const length = timeline?.length_ms ?? Math.max(0, ...cues.map((c) => c.end));
  const says = cues.some((c) => c.action.type === 'say');

  useEffect(() => {
    const hear: Hear = (cue, from) => {
      if (!sound) return undefined;
      if (cue.action.type === 'say') return from < 300 ? speak(cue) : undefined;
      const address = cue.action.type === 'sound' ? addresses.get(String(cue.action.sound)) : undefined;
      return address === undefined ? undefined : playSound(address, cue, from);
    };
    player.load(cues, length, hear);
  }, [player, cues, length, sound, addresses]);
  useEffect(() => () => player.pause(), [player]);

  const at = useSyncExternalStore(player.subscribe, () => Math.floor(player.ms / frame) * frame);
  const of = useMemo(() => ({ has: wholeBody, ...performedAt(cues, at) }), [cues, at]);
  const voices = typeof speechSynthesis === 'undefined' ? [] : speechSynthesis.getVoices();
  const voiceless = says && !voices.some((v) => v.lang.split(/[-_]/)[0] === lang.split('-')[0]);
  if (flat(kind, doc).length === 0) return null;
  return (
    <Group component="section" aria-label={t.preview} gap="sm" wrap="nowrap" className="preview">
      <DrawnRobot of={of} width={150} />
      <div>
        <Switch
          size="xs"
          label={t.sound}
          checked={sound}
          onChange={(e) => {
            if (!e.currentTarget.checked) player.pause();
            setSound(e.currentTarget.checked);
          }}
        />
        {of.screen && (
          <Text size="sm" mt={6} className="preview-screen" dir="auto">
            {of.screen}
          </Text>
        )}
        {voiceless && (
          <Text size="xs" c="dimmed" mt={6}>
            {t.silent}
          </Text>
        )}
      </div>
    </Group>
  );
}
