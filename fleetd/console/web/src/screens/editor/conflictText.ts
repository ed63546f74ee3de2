import { texts } from '../../text/language';

export const useConflictTexts = texts(
  {
    title: 'Somebody else changed this draft',
    what: (who: string, when: string, name: string) =>
      `${who} saved “${name}” at ${when}, while you were changing it. Your changes are only on this page yet, so nothing is lost. Choose what becomes the draft.`,
    legend: (who: string) => `The difference: − as ${who} saved it, + as you have it here`,
    bothTitle: 'Keep both',
    both: (who: string) => `Yours becomes a new draft with an id of its own. This one stays as ${who} saved it.`,
    bothButton: 'Save mine as a copy',
    copyId: 'Id of the copy',
    mineTitle: 'Keep mine',
    mine: (who: string) => `Your version replaces the one that ${who} saved, whose changes are lost.`,
    mineButton: 'Save mine over it',
    theirsTitle: (who: string) => `Keep the one of ${who}`,
    theirs: 'Your changes leave this page. Undo brings them back while it is open.',
    theirsButton: 'Discard mine',
    somebody: 'Somebody',
  },
  {
    title: 'Jemand anders hat diesen Entwurf geändert',
    what: (who, when, name) =>
      `${who} hat „${name}“ um ${when} gespeichert, während Sie daran arbeiteten. Ihre Änderungen stehen erst auf dieser Seite, also ist nichts verloren. Wählen Sie, was der Entwurf wird.`,
    legend: (who) => `Der Unterschied: − wie ${who} es gespeichert hat, + wie Sie es hier haben`,
    bothTitle: 'Beide behalten',
    both: (who) => `Ihre Fassung wird ein neuer Entwurf mit eigener Id. Dieser bleibt, wie ${who} ihn gespeichert hat.`,
    bothButton: 'Meine als Kopie speichern',
    copyId: 'Id der Kopie',
    mineTitle: 'Meine behalten',
    mine: (who) => `Ihre Fassung ersetzt die, die ${who} gespeichert hat; deren Änderungen gehen verloren.`,
    mineButton: 'Meine darüber speichern',
    theirsTitle: (who) => `Die von ${who} behalten`,
    theirs: 'Ihre Änderungen verschwinden von dieser Seite. Rückgängig holt sie zurück, solange sie offen ist.',
    theirsButton: 'Meine verwerfen',
    somebody: 'Jemand',
  },
  {
    title: 'Quelqu’un d’autre a changé ce brouillon',
    what: (who, when, name) =>
      `${who} a enregistré « ${name} » à ${when}, pendant que vous le changiez. Vos changements ne sont encore que sur cette page, donc rien n’est perdu. Choisissez ce qui devient le brouillon.`,
    legend: (who) => `La différence : − enregistré par ${who}, + comme vous l’avez ici`,
    bothTitle: 'Garder les deux',
    both: (who) =>
      `Le vôtre devient un nouveau brouillon avec son propre identifiant. Celui-ci reste comme ${who} l’a enregistré.`,
    bothButton: 'Enregistrer le mien en copie',
    copyId: 'Identifiant de la copie',
    mineTitle: 'Garder le mien',
    mine: (who) => `Votre version remplace celle que ${who} a enregistrée, dont les changements sont perdus.`,
    mineButton: 'Enregistrer le mien par-dessus',
    theirsTitle: (who) => `Garder celui de ${who}`,
    theirs: 'Vos changements quittent cette page. Annuler les ramène tant qu’elle est ouverte.',
    theirsButton: 'Rejeter le mien',
    somebody: 'Quelqu’un',
  },
);
