import { useLanguage } from '../../text/language';
import { languageName, type Multilingual, sameLanguage, textIn } from '../../text/multilingual';
import { position } from '../../text/position';
import { useNameOf } from '../library/api';
import { detailOf } from './defaults';
import { type Bar, speechLengths } from './layout';
import { useSummaryWords } from './names';
import { useTimelineTexts } from './timelineText';
import type { Editor } from './useEditor';

/** What stands on a bar, and what a screen reader says of it. */
export function useBarWords(editor: Editor) {
  const t = useTimelineTexts();
  const words = useSummaryWords();
  const actName = useNameOf('act');
  const reader = useLanguage((s) => s.language);
  const parameters = (editor.doc.head.parameters ?? {}) as Record<string, { default?: string }>;
  /** As it is performed if nobody gives it other values. */
  const filled = (text: string) =>
    text.replace(/\$\{(\w+)\}/g, (all, name: string) => parameters[name]?.default ?? all);
  const short = ({ item }: Bar) => filled(detailOf(item.fields, editor.lang, words)) || String(item.fields.type ?? '–');
  const full = (b: Bar) => {
    const { act, type } = b.item.fields;
    const what = act ? actName(String(act)) : short(b);
    return editor.kind === 'act' && what !== type ? `${String(type)} ${what}` : what;
  };
  /** The language of the words, if they do not exist in the wanted one. */
  const otherLanguage = (b: Bar) => {
    const lang = textIn(b.item.fields.text as Multilingual | undefined, editor.lang)?.lang;
    return lang && !sameLanguage(lang, editor.lang) ? lang : '';
  };
  const speech = (b: Bar) => {
    const all = speechLengths(b.item.fields);
    return all.length > 1 ? all : [];
  };
  const label = (b: Bar) => {
    const other = otherLanguage(b);
    const spoken = speech(b).map((s) => `${s.lang} ${position(s.ms)}`);
    return [
      b.end > b.start ? t.bar(full(b), position(b.start), position(b.end)) : t.moment(full(b), position(b.start)),
      other && t.inLanguage(languageName(other, reader)),
      spoken.length > 0 && t.speech(spoken.join(', ')),
      b.estimated && t.estimated,
      b.incomplete && t.unfinished,
      b.waits > 0 && t.waits(position(b.waits)),
      b.conflict && t.conflict,
    ]
      .filter(Boolean)
      .join(', ');
  };
  return Object.assign(full, { short, label, otherLanguage, speech });
}
