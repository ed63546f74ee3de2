import { ActionIcon, Group, Select, Stack, Text, Tooltip } from '@mantine/core';
import {
  IconMaximize,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlayerSkipBack,
  IconZoomIn,
  IconZoomOut,
} from '@tabler/icons-react';
import { useElementSize } from '@mantine/hooks';
import { useMemo, useState, useSyncExternalStore } from 'react';

import { useScreenKeys } from '../../shell/screenKeys';
import { useLanguage } from '../../text/language';
import { languageName } from '../../text/multilingual';
import { position } from '../../text/position';
import { useEntries } from '../library/api';
import { barsOf, type Lengths, type Said } from './layout';
import { find, flat, locate } from './model';
import { useNames } from './names';
import type { Player } from './player';
import { Sheet } from './Sheet';
import { useWaves } from './sounds';
import { least, otherLanguages } from './timeline';
import { useTimelineTexts } from './timelineText';
import { TryButton } from './TryButton';
import { isDraftAct, isUnfinished } from './unfinished';
import type { Editor } from './useEditor';

/** Pixels of the names of lanes and of the margin behind the bars. */
const besideBars = 98;
/** How many times as wide the timeline is at most as its place. */
const most = 16;

/** The draft as a score: what each unit does by time, to be dragged, and played by a drawn robot. */
export function TimelineView({ editor, player }: { editor: Editor; player: Player }) {
  const t = useTimelineTexts();
  const names = useNames();
  useScreenKeys(t.keys, t.keyList as readonly (readonly string[])[]);
  const reader = useLanguage((s) => s.language);
  const { kind, doc } = editor;
  const { timeline, drawn, problems } = editor.check;
  const view = useElementSize();
  const [chosenZoom, setZoom] = useState<number>();
  const playing = useSyncExternalStore(player.subscribe, () => player.playing);
  const sounds = flat(kind, doc).flatMap((r) => (typeof r.item.fields.sound === 'string' ? [r.item.fields.sound] : []));
  const waves = useWaves(sounds);
  const entries = useEntries('act').data;
  const bars = useMemo(() => {
    const lengths: Lengths = {
      acts: new Map((entries ?? []).flatMap((e) => (e.length_ms ? [[e.id, e.length_ms] as const] : []))),
      sounds: new Map([...waves].map(([name, w]) => [name, w.ms])),
    };
    const keysOf = (which: (p: (typeof problems)[number]) => boolean) =>
      new Set(problems.filter(which).flatMap((p) => locate(kind, doc, p.pointer).key ?? []));
    const said: Said = {
      timeline,
      drawn: drawn === doc,
      incomplete: keysOf((p) => isUnfinished(p) && !isDraftAct(p)),
      conflicts: new Set((timeline?.conflicts ?? []).flatMap((c) => locate(kind, drawn ?? doc, c.pointer).key ?? [])),
    };
    return barsOf(kind, doc, lengths, said).filter((b) => find(doc, b.key));
  }, [kind, doc, timeline, drawn, problems, waves, entries]);
  const length = Math.max(0, ...bars.map((b) => b.end));
  const others = timeline ? otherLanguages(timeline, editor.lang) : [];
  // Room behind the end, in which a bar can be dropped.
  const total = Math.max(length * 1.08, length + 500, 4000);
  const fit = Math.max(200, view.width - besideBars) / total;
  const zoom = chosenZoom ?? Math.max(1, least(total) / total / fit);
  const zoomBy = (factor: number) => setZoom(Math.min(most, Math.max(1, zoom * factor)));

  return (
    <Stack gap={6} component="section" aria-label={t.timeline} data-timeline ref={view.ref}>
      <Group gap="xs" justify="space-between">
        <Group gap={6}>
          <Tooltip label={t.toStart}>
            <ActionIcon variant="default" size={36} aria-label={t.toStart} onClick={() => player.seek(0)}>
              <IconPlayerSkipBack size={18} aria-hidden />
            </ActionIcon>
          </Tooltip>
          <Tooltip label={playing ? t.pause : t.play}>
            <ActionIcon
              size={36}
              aria-label={playing ? t.pause : t.play}
              disabled={length === 0}
              onClick={() => (playing ? player.pause() : player.play())}
            >
              {playing ? <IconPlayerPause size={20} aria-hidden /> : <IconPlayerPlay size={20} aria-hidden />}
            </ActionIcon>
          </Tooltip>
          <Clock player={player} length={length} about={bars.some((b) => b.estimated)} />
          <TryButton editor={editor} />
        </Group>
        <Group gap={6}>
          <ActionIcon.Group>
            <ActionIcon
              variant="default"
              size={30}
              aria-label={t.zoomOut}
              disabled={zoom <= 1}
              onClick={() => zoomBy(0.5)}
            >
              <IconZoomOut size={16} aria-hidden />
            </ActionIcon>
            <ActionIcon variant="default" size={30} aria-label={t.fit} disabled={zoom === 1} onClick={() => setZoom(1)}>
              <IconMaximize size={16} aria-hidden />
            </ActionIcon>
            <ActionIcon
              variant="default"
              size={30}
              aria-label={t.zoomIn}
              disabled={zoom >= most}
              onClick={() => zoomBy(2)}
            >
              <IconZoomIn size={16} aria-hidden />
            </ActionIcon>
          </ActionIcon.Group>
          <Select
            size="xs"
            w={140}
            aria-label={t.language}
            allowDeselect={false}
            value={editor.lang}
            data={[...new Set([...(names.languages ?? []), ...others, editor.lang])]
              .sort()
              .map((l) => ({ value: l, label: `${languageName(l, reader)} (${l})` }))}
            onChange={(v) => v && editor.setLang(v)}
          />
        </Group>
      </Group>
      <Sheet
        editor={editor}
        player={player}
        bars={bars}
        length={length}
        total={total}
        scale={fit * zoom}
        zoomBy={zoomBy}
        waves={waves}
      />
      {(others.length > 0 || (timeline && timeline.least_ms !== timeline.most_ms)) && (
        <Text size="xs" c="dimmed">
          {others.length > 0 &&
            `${t.others(languageName(editor.lang, reader), others.map((l) => languageName(l, reader)).join(', '))} `}
          {timeline && timeline.least_ms !== timeline.most_ms && <span data-testid="estimate-basis">{t.basis}</span>}
        </Text>
      )}
    </Stack>
  );
}

/** Where the cursor is, and how long the whole takes. */
function Clock({ player, length, about }: { player: Player; length: number; about: boolean }) {
  const t = useTimelineTexts();
  const at = useSyncExternalStore(player.subscribe, () => Math.floor(player.ms / 100) * 100);
  return (
    <Text size="sm" className="clock" data-testid="clock">
      {position(at)} <span>/ {about ? t.about(position(length)) : position(length)}</span>
    </Text>
  );
}
