import { create } from 'zustand';

export type Language = 'en' | 'de';

const key = 'troupe.language';

function initial(): Language {
  const chosen = localStorage.getItem(key) ?? navigator.language;
  return chosen.startsWith('de') ? 'de' : 'en';
}

interface Choice {
  language: Language;
  choose: (l: Language) => void;
}

/** The language of the console, kept in this browser. */
export const useLanguage = create<Choice>()((set) => ({
  language: initial(),
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
 * gives those of the chosen one. The compiler demands every text in both.
 */
export function texts<M extends object>(en: M, de: Same<M>): { (): Same<M>; now: () => Same<M> } {
  const of = (l: Language): Same<M> => (l === 'de' ? de : (en as unknown as Same<M>));
  const hook = () => of(useLanguage((s) => s.language));
  return Object.assign(hook, { now: () => of(useLanguage.getState().language) });
}
