import { texts } from '../../text/language';
import type { Spec } from './types';

const useTexts = texts(
  {
    offers: (n: number, most: number) => `at most ${n} offers a minute, doubled by each passed wave up to ${most}`,
    offline: {
      wait: 'robots that are not connected get it when they are back',
      skip: 'robots that are not connected are left out',
      fail: 'robots that are not connected count as failed',
    },
    pinned: { leave: 'pinned robots keep what they have', replace: 'pinned robots get it, and stay pinned' },
    inWindows: 'only in the maintenance windows of each site',
    onlyIdle: 'only robots that do not perform',
    retries: (n: number) => (n === 0 ? 'no retries' : `up to ${n} retries after failures that may pass`),
    health: 'the health of updated robots is compared with the others',
    noHealth: 'the health of updated robots is not compared',
    atOnce: 'all at once, without gates',
  },
  {
    offers: (n, most) => `höchstens ${n} Angebote je Minute, verdoppelt mit jeder bestandenen Welle bis ${most}`,
    offline: {
      wait: 'nicht verbundene Roboter bekommen es, wenn sie zurück sind',
      skip: 'nicht verbundene Roboter werden ausgelassen',
      fail: 'nicht verbundene Roboter zählen als gescheitert',
    },
    pinned: {
      leave: 'festgehaltene Roboter behalten, was sie haben',
      replace: 'festgehaltene Roboter bekommen es und bleiben festgehalten',
    },
    inWindows: 'nur in den Wartungsfenstern jedes Standorts',
    onlyIdle: 'nur Roboter, die nicht aufführen',
    retries: (n) => (n === 0 ? 'keine Wiederholung' : `bis zu ${n} Wiederholungen nach Fehlern, die vergehen können`),
    health: 'die Gesundheit der Roboter, die es haben, wird mit den anderen verglichen',
    noHealth: 'die Gesundheit der Roboter wird nicht verglichen',
    atOnce: 'alle auf einmal, ohne Bedingungen',
  },
  {
    offers: (n, most) => `au plus ${n} offres par minute, doublées à chaque vague réussie jusqu’à ${most}`,
    offline: {
      wait: 'les robots non connectés le reçoivent à leur retour',
      skip: 'les robots non connectés sont laissés de côté',
      fail: 'les robots non connectés comptent comme des échecs',
    },
    pinned: {
      leave: 'les robots figés gardent ce qu’ils ont',
      replace: 'les robots figés le reçoivent, et restent figés',
    },
    inWindows: 'seulement dans les heures d’entretien de chaque site',
    onlyIdle: 'seulement les robots qui ne jouent pas',
    retries: (n) =>
      n === 0 ? 'pas de nouveaux essais' : `jusqu’à ${n} nouveaux essais après un échec qui peut passer`,
    health: 'la santé des robots mis à jour est comparée à celle des autres',
    noHealth: 'la santé des robots mis à jour n’est pas comparée',
    atOnce: 'tous à la fois, sans condition',
  },
);

/** Returns a function that says in words how a rollout proceeds: its rate, its limits and what it waits for. useGateText says the waves. */
export function useRulesText(): (s: Spec) => string {
  const t = useTexts();
  return (s) => {
    if (s.all_at_once) return t.atOnce;
    return [
      s.offers_per_min && t.offers(s.offers_per_min, s.max_offers_per_min ?? s.offers_per_min),
      s.offline && t.offline[s.offline],
      s.pinned && t.pinned[s.pinned],
      s.in_windows && t.inWindows,
      s.only_idle && t.onlyIdle,
      s.retries !== undefined && s.retries !== null && t.retries(s.retries),
      s.watch_health === false ? t.noHealth : t.health,
    ]
      .filter(Boolean)
      .join('; ');
  };
}
