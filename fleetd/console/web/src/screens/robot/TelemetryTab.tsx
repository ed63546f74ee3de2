import { SegmentedControl, SimpleGrid, Stack, Text } from '@mantine/core';
import { useSearchParams } from 'react-router';

import { texts } from '../../text/language';
import { Chart } from './Chart';
import { type Span, spans } from './curve';
import Kept from './Kept';
import { Nothing, Panel } from './Panel';
import { usePage } from './page';
import { type Sample, useSamples } from './samples';

const useTexts = texts(
  {
    spans: { live: 'Live', hour: 'Hour', day: 'Day', week: 'Week', year: 'Year' },
    spanTitle: 'Time that is shown',
    live: 'These were collected by this tab since you opened the page of the robot, for an hour at most. fleetd keeps a value for each minute; the other spans show it.',
    battery: 'Battery',
    'round trip': 'Round trip of a message',
    'silence budget': 'Silence left until the link is lost',
    temperature: 'Temperatures',
    noTemperature: 'A robot reports the temperature of a unit only while it is warm, hot or out of order. None is now.',
    speed: 'Speed',
    noSpeed: 'A robot reports its speed only while somebody drives it. The page of manual control shows it.',
    none: 'The robot reports nothing of this.',
    waiting: 'Nothing yet. The next report of the robot brings the first value.',
    away: 'The robot is not connected. Values come when it is back.',
  },
  {
    spans: { live: 'Live', hour: 'Stunde', day: 'Tag', week: 'Woche', year: 'Jahr' },
    spanTitle: 'Gezeigter Zeitraum',
    live: 'Diese Werte hat dieser Tab gesammelt, seit Sie die Seite des Roboters geöffnet haben, höchstens eine Stunde lang. fleetd bewahrt einen Punkt je Minute auf; die anderen Zeiträume zeigen ihn.',
    battery: 'Batterie',
    'round trip': 'Umlaufzeit einer Nachricht',
    'silence budget': 'Stille, bis die Verbindung als verloren gilt',
    temperature: 'Temperaturen',
    noTemperature:
      'Ein Roboter meldet die Temperatur einer Einheit nur, solange sie warm, heiß oder gestört ist. Das ist jetzt keine.',
    speed: 'Geschwindigkeit',
    noSpeed: 'Ein Roboter meldet seine Geschwindigkeit nur, während ihn jemand fährt. Die Handsteuerung zeigt sie.',
    none: 'Der Roboter meldet nichts davon.',
    waiting: 'Noch nichts. Die nächste Meldung des Roboters bringt den ersten Wert.',
    away: 'Der Roboter ist nicht verbunden. Werte kommen, wenn er zurück ist.',
  },
  {
    spans: { live: 'Direct', hour: 'Heure', day: 'Jour', week: 'Semaine', year: 'Année' },
    spanTitle: 'Période montrée',
    live: 'Cet onglet les a recueillies depuis que vous avez ouvert la page du robot, pendant une heure au plus. fleetd garde une valeur par minute ; les autres périodes la montrent.',
    battery: 'Batterie',
    'round trip': 'Aller-retour d’un message',
    'silence budget': 'Silence permis avant la perte de la liaison',
    temperature: 'Températures',
    noTemperature:
      'Un robot ne signale la température d’une unité que pendant qu’elle est chaude, très chaude ou hors service. Aucune ne l’est maintenant.',
    speed: 'Vitesse',
    noSpeed:
      'Un robot ne signale sa vitesse que pendant que quelqu’un le conduit. La page de conduite manuelle la montre.',
    none: 'Le robot n’en signale rien.',
    waiting: 'Rien encore. Le prochain rapport du robot apporte la première valeur.',
    away: 'Le robot n’est pas connecté. Les valeurs viennent à son retour.',
  },
);

const charts = [
  { key: 'battery', unit: '%', range: [0, 100] },
  { key: 'round trip', unit: 'ms' },
  { key: 'silence budget', unit: 's' },
] as const;
const none: Sample[] = [];
/** The first samples are of the stream, which has less than the robot's documents. */
const few = 3;

const choices = ['live', ...(Object.keys(spans) as Span[])] as const;

/** Charts of what the robot reports: live, or of a span of time that fleetd kept. */
export default function TelemetryTab() {
  const t = useTexts();
  const { id } = usePage();
  const [query, setQuery] = useSearchParams();
  const chosen = choices.find((c) => c === query.get('span')) ?? 'day';
  return (
    <Stack>
      <SegmentedControl
        aria-label={t.spanTitle}
        value={chosen}
        onChange={(span) => setQuery({ span }, { replace: true })}
        data={choices.map((value) => ({ value, label: t.spans[value] }))}
        style={{ alignSelf: 'flex-start' }}
      />
      {chosen === 'live' ? <Live /> : <Kept key={chosen} id={id} span={chosen} />}
    </Stack>
  );
}

/** Charts of what this page has collected. */
function Live() {
  const t = useTexts();
  const { id, stale } = usePage();
  const samples = useSamples((s) => s.of[id]) ?? none;
  const warm = [
    ...new Set(samples.flatMap((s) => Object.keys(s.values).filter((k) => k.startsWith('temperature ')))),
  ].sort();
  return (
    <Stack>
      <Text size="sm" c="dimmed" role="note">
        {t.live}
      </Text>
      <SimpleGrid cols={{ base: 1, lg: 2, xl: 3 }}>
        {charts.map((c) => (
          <Panel key={c.key} title={t[c.key]}>
            {samples.some((s) => s.values[c.key] !== undefined) ? (
              <Chart
                samples={samples}
                lines={[c.key]}
                names={[t[c.key]]}
                unit={c.unit}
                range={'range' in c ? [...c.range] : undefined}
              />
            ) : (
              <Nothing>{stale === 'robot' ? t.away : samples.length > few ? t.none : t.waiting}</Nothing>
            )}
          </Panel>
        ))}
        <Panel title={t.temperature}>
          {warm.length > 0 ? (
            <Chart samples={samples} lines={warm} names={warm.map((k) => k.slice('temperature '.length))} unit="°C" />
          ) : (
            <Nothing>{t.noTemperature}</Nothing>
          )}
        </Panel>
        <Panel title={t.speed}>
          <Nothing>{t.noSpeed}</Nothing>
        </Panel>
      </SimpleGrid>
    </Stack>
  );
}
