import { texts } from '../../text/language';

/** What is measured of robots, in the order in which it is shown. */
export const measuredNames = [
  'battery',
  'round_trip',
  'heartbeat_gap',
  'loop_lateness',
  'silence_budget',
  'temperature',
  'speed',
] as const;

/** The names of measurements. */
export const useMeasuredWords = texts(
  {
    battery: 'Battery',
    round_trip: 'Round trip of a message',
    heartbeat_gap: 'Time between heartbeats',
    loop_lateness: 'Lateness of the control loop',
    silence_budget: 'Silence left until the link is lost',
    temperature: 'Hottest unit',
    speed: 'Speed while somebody drives',
  },
  {
    battery: 'Batterie',
    round_trip: 'Umlaufzeit einer Nachricht',
    heartbeat_gap: 'Zeit zwischen Lebenszeichen',
    loop_lateness: 'Verspätung der Regelschleife',
    silence_budget: 'Stille, bis die Verbindung als verloren gilt',
    temperature: 'Heißeste Einheit',
    speed: 'Geschwindigkeit, während jemand fährt',
  },
  {
    battery: 'Batterie',
    round_trip: 'Aller-retour d’un message',
    heartbeat_gap: 'Temps entre les signes de vie',
    loop_lateness: 'Retard de la boucle de commande',
    silence_budget: 'Silence permis avant la perte de la liaison',
    temperature: 'Unité la plus chaude',
    speed: 'Vitesse pendant que quelqu’un conduit',
  },
);
