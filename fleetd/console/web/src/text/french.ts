/*
The French of the console, which says vous. Its words for those of the glossary in CONTRIBUTING.md:

  act acte, action action, activity activité, story histoire, to perform jouer
  robot robot, unit unité, fleet flotte, site site, label étiquette, place lieu
  automatic automatique, manual manuel, start-up démarrage, safe mode mode sûr
  stop arrêt, stopped arrêté, to release a stop lever l’arrêt, reset réinitialiser
  kept stopped maintenu à l’arrêt, let it move autoriser le mouvement
  control contrôle, to take it prendre, to give it back rendre
  pause pause, Continue Continuer, interrupt interruption, trigger déclencheur, reaction réaction
  heartbeat signe de vie, round trip aller-retour, safeguard protection, alert alerte, event événement
  assign attribuer, revert rétablir, rollout déploiement, wave vague, roll back revenir en arrière, abort abandonner
  policy règle, pin figer, schedule horaire, draft brouillon, publish publier, revision révision (rév. 3)
  enrol inscrire, adopt ajouter à la flotte, audit audit, token jeton, sign in se connecter
*/

/** A French text with the spaces that do not break before its marks and inside its quotation marks. */
export const typeset = (text: string): string => text.replace(/ ([:;?!%»])/g, '\u202f$1').replace(/« /g, '«\u202f');

/** French texts, typeset: tables and functions of texts, too. Tables in Go and people write ordinary spaces. */
export function inFrench<T>(texts: T): T {
  if (typeof texts === 'string') return typeset(texts) as T;
  if (typeof texts === 'function') return ((...p: unknown[]) => inFrench(texts(...p))) as T;
  if (Array.isArray(texts)) return texts.map(inFrench) as T;
  if (typeof texts === 'object' && texts !== null)
    return Object.fromEntries(Object.entries(texts).map(([k, v]) => [k, inFrench(v)])) as T;
  return texts;
}
