import { languageName } from '../../text/multilingual';
import { texts, useLanguage } from '../../text/language';
import type { Finding } from '../library/api';
import { useFieldWord } from './fields/words';
import { find, type Kind, locate, type Doc } from './model';

const useTodoTexts = texts(
  {
    first: { act: 'Add a first action', story: 'Add a first act', activity: 'Add a first act' },
    fill: (field: string) => `Fill in: ${field}`,
    write: (field: string, language: string) => `Write it in ${language}: ${field}`,
    where: 'Say where it drives: a point, or x and y',
  },
  {
    first: {
      act: 'Fügen Sie eine erste Aktion hinzu',
      story: 'Fügen Sie einen ersten Akt hinzu',
      activity: 'Fügen Sie einen ersten Akt hinzu',
    },
    fill: (field) => `Noch auszufüllen: ${field}`,
    write: (field, language) => `Noch zu schreiben auf ${language}: ${field}`,
    where: 'Sagen Sie, wohin er fährt: ein Punkt, oder x und y',
  },
);

/** What an author still has to do about a problem of an unfinished draft. */
export function useTodo(): (kind: Kind, doc: Doc, p: Finding) => string {
  const t = useTodoTexts();
  const word = useFieldWord();
  const reader = useLanguage((s) => s.language);
  return (kind, doc, p) => {
    if (p.code !== 'missing') return t.first[kind];
    const { key, field } = locate(kind, doc, p.pointer);
    const last = p.pointer.split('/').at(-1)!;
    if ((field === 'text' || field === 'name') && last !== field)
      return t.write(word(field), languageName(last, reader));
    if (field === '' && find(doc, key)?.fields.type === 'goto') return t.where;
    return field === '' ? `${p.detail}; ${p.hint ?? ''}` : t.fill(word(field));
  };
}
