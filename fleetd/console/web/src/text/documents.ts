import { texts } from './language';
import { inWords } from './terms';

/** What the fleet desires of a robot, and what a robot publishes: the ends of topics, without `desired` and `reported`. */
const useDocumentWords = texts(
  {
    story: 'its story',
    activities: 'its activities',
    places: 'its places',
    config: 'its settings',
    mode: 'its assigned mode',
    stop: 'its stops',
    state: 'its state',
    modes: 'its modes',
    caps: 'what it can do',
    acts: 'its acts',
    event: 'its events',
    telemetry: 'its measurements',
    disk: 'its disk',
    fleet: 'the stops of the fleet',
  },
  {
    story: 'seine Geschichte',
    activities: 'seine Aktivitäten',
    places: 'seine Orte',
    config: 'seine Einstellungen',
    mode: 'sein zugewiesener Modus',
    stop: 'seine Stopps',
    state: 'sein Zustand',
    modes: 'seine Modi',
    caps: 'was er kann',
    acts: 'seine Akte',
    event: 'seine Ereignisse',
    telemetry: 'seine Messwerte',
    disk: 'sein Datenträger',
    fleet: 'die Stopps der Flotte',
  },
  {
    story: 'son histoire',
    activities: 'ses activités',
    places: 'ses lieux',
    config: 'ses réglages',
    mode: 'son mode attribué',
    stop: 'ses arrêts',
    state: 'son état',
    modes: 'ses modes',
    caps: 'ce qu’il sait faire',
    acts: 'ses actes',
    event: 'ses événements',
    telemetry: 'ses mesures',
    disk: 'son disque',
    fleet: 'les arrêts de la flotte',
  },
);

/** The document that the source of an alert or an event names, in words; one that is new is readable. */
export function documentText(source: string): string {
  if (source === 'delivery') return useDocumentWords.now().story;
  if (source === 'fleet/stop') return useDocumentWords.now().fleet;
  return inWords(useDocumentWords.now(), source.replace(/^(desired|reported)[/_]/, ''));
}
