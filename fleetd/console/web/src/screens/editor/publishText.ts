import { texts } from '../../text/language';

export const usePublishTexts = texts(
  {
    unpublished: 'These acts are only drafts, and are published with it:',
    errors: (n: number) => (n === 1 ? '1 error' : `${n} errors`),
    correct: (id: string) => `Open ${id}`,
    correctFirst: 'Correct the errors in these acts first.',
    changed: 'These acts were changed after they were published',
    changedHelp: 'Tick an act to publish its draft too. Otherwise its published revision is used.',
    changedSince: (act: string, rev: number) => `${act}, changed after revision ${rev}`,
    publishedActs: (list: string) => `Published with it: ${list}`,
  },
  {
    unpublished: 'Diese Akte sind nur Entwürfe und werden mit veröffentlicht:',
    errors: (n) => (n === 1 ? '1 Fehler' : `${n} Fehler`),
    correct: (id) => `${id} öffnen`,
    correctFirst: 'Beheben Sie erst die Fehler in diesen Akten.',
    changed: 'Diese Akte wurden geändert, nachdem sie veröffentlicht wurden',
    changedHelp:
      'Wählen Sie einen Akt, um auch seinen Entwurf zu veröffentlichen. Sonst gilt seine veröffentlichte Revision.',
    changedSince: (act, rev) => `${act}, geändert nach Revision ${rev}`,
    publishedActs: (list) => `Mit veröffentlicht: ${list}`,
  },
  {
    unpublished: 'Ces actes ne sont que des brouillons, et sont publiés avec :',
    errors: (n) => (n === 1 ? '1 erreur' : `${n} erreurs`),
    correct: (id) => `Ouvrir ${id}`,
    correctFirst: 'Corrigez d’abord les erreurs dans ces actes.',
    changed: 'Ces actes ont changé après leur publication',
    changedHelp: 'Cochez un acte pour publier aussi son brouillon. Sinon, c’est sa révision publiée qui sert.',
    changedSince: (act, rev) => `${act}, changé après la révision ${rev}`,
    publishedActs: (list) => `Publiés avec : ${list}`,
  },
);
