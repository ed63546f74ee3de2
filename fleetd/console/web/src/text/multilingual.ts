/** A text by language tag: {en: 'Hello', 'pt-BR': 'Olá'}. */
export type Multilingual = Readonly<Record<string, string>>;

/** Whether a reader of one language reads the other: de and de-AT are one. */
export const sameLanguage = (a: string, b: string) => a.split('-')[0] === b.split('-')[0];

/**
 * The text in the wanted language, or else in English, or else in the first by tag. lang says which one it is.
 */
export function textIn(all: Multilingual | undefined, wanted: string): { text: string; lang: string } | undefined {
  const tags = Object.keys(all ?? {}).sort();
  const of = (w: string) => tags.find((l) => l === w) ?? tags.find((l) => sameLanguage(l, w));
  const lang = of(wanted) ?? of('en') ?? tags[0];
  return lang === undefined ? undefined : { text: all![lang]!, lang };
}

/** The name of a language in another, such as German for de; the tag itself if it has none. */
export function languageName(tag: string, reader: string): string {
  try {
    return new Intl.DisplayNames(reader, { type: 'language' }).of(tag) ?? tag;
  } catch {
    return tag; // no valid tag
  }
}
