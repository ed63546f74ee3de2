import { useLanguage } from '../../text/language';
import { languageName, sameLanguage } from '../../text/multilingual';
import { position } from '../../text/position';
import type { Bar } from './layout';
import { colorIn, wordsOf } from './timeline';
import { useTimelineTexts } from './timelineText';
import { useTurnTexts } from './turnText';
import type { Editor } from './useEditor';

/** The name of a lane among the others. */
export const laneKey = (l: { name: string; unit: string }) => `${l.name}/${l.unit}`;

/** What the acts do that the draft performs: not its own, so it is only looked at. */
export interface Ghost {
  start: number;
  end: number;
  what: string;
  label: string;
  color: string;
  owner: string;
  lang: string;
}

export function useGhosts(editor: Editor, bars: readonly Bar[]): { name: string; unit: string; bars: Ghost[] }[] {
  const t = useTimelineTexts();
  const turns = useTurnTexts();
  const reader = useLanguage((s) => s.language);
  const { kind } = editor;
  const own = new Set(bars.map((b) => b.pointer));
  const lanes = new Map<string, { name: string; unit: string; bars: Ghost[] }>();
  for (const lane of editor.check.timeline?.lanes ?? [])
    for (const b of lane.bars ?? []) {
      if (kind === 'act' && own.has(b.pointer)) continue;
      const owner = kind === 'act' ? bars.findLast((o) => b.pointer.startsWith(`${o.pointer}/`)) : bars[b.step ?? 0];
      if (!owner) continue;
      const [what, color] = [wordsOf(b, turns), colorIn(b)];
      const other = b.lang && !sameLanguage(b.lang, editor.lang) ? b.lang : '';
      const label = [
        t.bar([...new Set([b.type, what, color])].filter(Boolean).join(' '), position(b.start_ms), position(b.end_ms)),
        other && t.inLanguage(languageName(other, reader)),
        b.estimated && t.estimated,
        b.waits_ms && t.waits(position(b.waits_ms)),
      ]
        .filter(Boolean)
        .join(', ');
      const name = { name: lane.class as string, unit: lane.unit ?? '' };
      const at = laneKey(name);
      if (!lanes.has(at)) lanes.set(at, { ...name, bars: [] });
      lanes.get(at)!.bars.push({ start: b.start_ms, end: b.end_ms, what, label, color, owner: owner.key, lang: other });
    }
  return [...lanes.values()];
}
