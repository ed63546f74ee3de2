import { languageName } from '../../text/multilingual';
import { texts, useLanguage } from '../../text/language';
import { type Finding, useNameOf } from '../library/api';
import { asInForm } from './asInForm';
import { summary } from './defaults';
import { beyond, withUnit } from './fields/units';
import { useFieldWord } from './fields/words';
import { find, locate } from './model';
import { useSummaryWords } from './names';
import { resolve, schemaOf, useSchema } from './schemas';
import { isDraftAct, isTodo } from './unfinished';
import type { Editor } from './useEditor';

const useTodoTexts = texts(
  {
    first: { act: 'Add a first action', story: 'Add a first act', activity: 'Add a first act' },
    fill: (field: string) => `Fill in: ${field}`,
    write: (field: string, language: string) => `Write it in ${language}: ${field}`,
    oneOf: {
      goto: 'Say where it drives: a place, or x and y',
      head: 'Say how the head turns: at least one angle',
      pose: 'Say how it leans: at least one angle, or a height',
      drive: 'Say how fast it drives: forward, to the left, or turning',
      screen: 'Say what the screen shows: a view, a text, an image, or answers to choose from',
    } as Record<string, string>,
    draft: (act: string) => `${act} is only a draft: it is published together with this`,
    beyond: (value: string, from: string, to: string) => `${value} is not between ${from} and ${to}`,
    needsEnd: (end: string, most: string) =>
      `It has no end. Fill in “${most}” (it ends earlier if it is done), or “${end}”`,
    endsBefore: (end: string, start: string) => `It ends at ${end}, but starts at ${start}`,
    noText: (act: string, language: string) => `“${act}” has no text in ${language}`,
    uploadIt: 'Choose another, or upload one of this name in Sounds and files',
  },
  {
    first: {
      act: 'Fügen Sie eine erste Aktion hinzu',
      story: 'Fügen Sie einen ersten Akt hinzu',
      activity: 'Fügen Sie einen ersten Akt hinzu',
    },
    fill: (field) => `Noch auszufüllen: ${field}`,
    write: (field, language) => `Noch zu schreiben auf ${language}: ${field}`,
    oneOf: {
      goto: 'Sagen Sie, wohin er fährt: ein Ort, oder x und y',
      head: 'Sagen Sie, wie der Kopf sich dreht: mindestens ein Winkel',
      pose: 'Sagen Sie, wie er sich neigt: mindestens ein Winkel oder eine Höhe',
      drive: 'Sagen Sie, wie schnell er fährt: vorwärts, nach links oder in einer Drehung',
      screen: 'Sagen Sie, was der Bildschirm zeigt: eine Ansicht, einen Text, ein Bild oder Antworten zur Auswahl',
    },
    draft: (act) => `${act} ist nur ein Entwurf: er wird mit diesem veröffentlicht`,
    beyond: (value, from, to) => `${value} liegt nicht zwischen ${from} und ${to}`,
    needsEnd: (end, most) =>
      `Es hat kein Ende. Füllen Sie „${most}“ aus (es endet früher, wenn es fertig ist), oder „${end}“`,
    endsBefore: (end, start) => `Es endet bei ${end}, beginnt aber bei ${start}`,
    noText: (act, language) => `„${act}“ hat keinen Text auf ${language}`,
    uploadIt: 'Wählen Sie etwas anderes, oder laden Sie etwas dieses Namens unter Klänge und Dateien hoch',
  },
  {
    first: {
      act: 'Ajoutez une première action',
      story: 'Ajoutez un premier acte',
      activity: 'Ajoutez un premier acte',
    },
    fill: (field) => `Remplissez : ${field}`,
    write: (field, language) => `Écrivez en ${language} : ${field}`,
    oneOf: {
      goto: 'Dites où il va : un lieu, ou x et y',
      head: 'Dites comment la tête tourne : au moins un angle',
      pose: 'Dites comment il se penche : au moins un angle, ou une hauteur',
      drive: 'Dites à quelle vitesse il roule : en avant, vers la gauche ou en tournant',
      screen: 'Dites ce que montre l’écran : une vue, un texte, une image ou des réponses au choix',
    },
    draft: (act) => `${act} n’est qu’un brouillon : il est publié avec ceci`,
    beyond: (value, from, to) => `${value} n’est pas entre ${from} et ${to}`,
    needsEnd: (end, most) =>
      `Elle n’a pas de fin. Remplissez « ${most} » (elle finit plus tôt si c’est fait), ou « ${end} »`,
    endsBefore: (end, start) => `Elle finit à ${end}, mais commence à ${start}`,
    noText: (act, language) => `« ${act} » n’a pas de texte en ${language}`,
    uploadIt: 'Choisissez-en un autre, ou envoyez-en un de ce nom dans Sons et fichiers',
  },
);

/** Codes of problems that name another action by its pointer, or a time in ms. */
const aboutAnother = new Set(['overlap', 'may_wait', 'cut_off']);

/** Fields that name what can be uploaded. */
const catalogued = new Set(['sound', 'face', 'image']);

/** A problem in the words and units of the form, and what to do about it if that is not clear from the text. */
interface ProblemText {
  text: string;
  hint?: string;
}

/** Says what the author of a draft still has to do about its problems, or what is wrong. */
export function useProblemText({ kind, doc }: Pick<Editor, 'kind' | 'doc'>): (p: Finding) => ProblemText {
  const t = useTodoTexts();
  const word = useFieldWord();
  const words = useSummaryWords();
  const reader = useLanguage((s) => s.language);
  const actName = useNameOf('act');
  const schema = useSchema(kind);
  const todo = (p: Finding, key: string | undefined, field: string): string => {
    const item = find(doc, key);
    if (isDraftAct(p)) return t.draft(actName(String(item ? item.fields.act : doc.head.shutdown)));
    if (p.code !== 'missing') return t.first[kind];
    const last = p.pointer.split('/').at(-1)!;
    if ((field === 'text' || field === 'name') && last !== field)
      return t.write(word(field), languageName(last, reader));
    if (field !== '') return t.fill(word(field));
    return t.oneOf[String(item?.fields.type)] ?? [p.detail, p.hint].filter(Boolean).join('; ');
  };
  return (p) => {
    const { key, field } = locate(kind, doc, p.pointer);
    if (isTodo(p)) return { text: todo(p, key, field) };
    const item = find(doc, key);
    const of = item && schema && schemaOf(schema, kind, item)?.properties?.[field];
    const limits = p.code === 'out_of_range' && of && beyond(field, item.fields[field], resolve(schema, of));
    if (limits) return { text: t.beyond(...limits) };
    if (p.code === 'needs_end') return { text: t.needsEnd(word('end_ms'), word('timeout_ms')) };
    const lacks = p.code === 'missing_language' && /^the act (\S+) has no text in (\S+) at /.exec(p.detail);
    if (lacks) return { text: t.noText(actName(lacks[1]!), languageName(lacks[2]!, reader)), hint: p.hint };
    const [start, end] = [Number(item?.fields.start_ms ?? 0), Number(item?.fields.end_ms)];
    if (p.code === 'out_of_range' && field === 'end_ms' && end <= start)
      return { text: t.endsBefore(withUnit('end_ms', end), withUnit('start_ms', start)) };
    if (p.code === 'not_in_catalogue' && catalogued.has(field)) return { text: p.detail, hint: t.uploadIt };
    const name = (pointer: string) => summary(find(doc, locate(kind, doc, pointer).key)?.fields ?? {}, reader, words);
    return { text: aboutAnother.has(p.code) ? asInForm(p.detail, name) : p.detail, hint: p.hint };
  };
}
