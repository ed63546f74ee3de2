import { create } from 'zustand';

import { inFrench } from './french';

/** The languages of the console, each by its own name. */
export const languages = { en: 'English', de: 'Deutsch', fr: 'Français' } as const;

export type Language = keyof typeof languages;

const key = 'troupe.language';

/** The language of the console that a tag such as fr-CH means; English if it has none of that language. */
export function languageOf(tag: string): Language {
  const primary = tag.toLowerCase().split('-')[0]!;
  return Object.hasOwn(languages, primary) ? (primary as Language) : 'en';
}

interface Choice {
  language: Language;
  choose: (l: Language) => void;
}

/** The language of the console, kept in this browser. */
export const useLanguage = create<Choice>()((set) => ({
  language: languageOf(localStorage.getItem(key) ?? navigator.language),
  choose: (language) => {
    localStorage.setItem(key, language);
    document.documentElement.lang = language;
    set({ language });
  },
}));

document.documentElement.lang = useLanguage.getState().language;

/** The same keys, and functions of the same parameters, in another language. */
export type Same<M> = {
  [K in keyof M]: M[K] extends (...p: infer P) => string
    ? (...p: P) => string
    : M[K] extends object
      ? Same<M[K]>
      : string;
};

/**
 * Declares the texts of a part of the console in every language, and returns a hook that
 * gives those of the chosen one. The compiler demands every text in each.
 */
export function texts<M extends object>(en: M, de: Same<M>, fr: Same<M>): { (): Same<M>; now: () => Same<M> } {
  const all = { en: en as unknown as Same<M>, de, fr: inFrench(fr) };
  const hook = () => all[useLanguage((s) => s.language)];
  return Object.assign(hook, { now: () => all[useLanguage.getState().language] });
}
