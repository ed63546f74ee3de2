import { Button, Group, Loader, SimpleGrid, Stack, Text } from '@mantine/core';
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { api, data } from '../../api/client';
import { problemOf } from '../../api/problem';
import { fleetdNow } from '../../live/stream';
import { texts } from '../../text/language';
import { dateTime } from '../../text/time';
import CurvePlot from './CurvePlot';
import { type Span, spans } from './curve';
import { Nothing, Panel } from './Panel';
import { measuredNames, useMeasuredWords } from './measuredText';

const useTexts = texts(
  {
    from: (from: string, to: string) => `${from} to ${to}`,
    earlier: 'Earlier',
    later: 'Later',
    loading: 'The measurements are being read',
    failed: 'The measurements cannot be read',
    none: 'Nothing was measured of this in that time.',
    soon: 'Each minute has a value once it is over.',
    speed: 'A robot reports its speed only while somebody drives it.',
    temperature: 'A robot reports the temperature of a unit only while it is warm, hot or out of order.',
  },
  {
    from: (from: string, to: string) => `${from} bis ${to}`,
    earlier: 'Früher',
    later: 'Später',
    loading: 'Die Messwerte werden gelesen',
    failed: 'Die Messwerte können nicht gelesen werden',
    none: 'In dieser Zeit wurde davon nichts gemessen.',
    soon: 'Jede Minute hat einen Punkt, sobald sie vorbei ist.',
    speed: 'Ein Roboter meldet seine Geschwindigkeit nur, während ihn jemand fährt.',
    temperature: 'Ein Roboter meldet die Temperatur einer Einheit nur, solange sie warm, heiß oder gestört ist.',
  },
  {
    from: (from, to) => `de ${from} à ${to}`,
    earlier: 'Avant',
    later: 'Après',
    loading: 'Lecture des mesures',
    failed: 'Les mesures ne peuvent pas être lues',
    none: 'Rien n’a été mesuré de cela pendant ce temps.',
    soon: 'Chaque minute a une valeur une fois qu’elle est finie.',
    speed: 'Un robot ne signale sa vitesse que pendant que quelqu’un le conduit.',
    temperature:
      'Un robot ne signale la température d’une unité que pendant qu’elle est chaude, très chaude ou hors service.',
  },
);

const percent: [number, number] = [0, 100];
const minute = 60_000;

/** The curves of what fleetd kept of a robot, of one span of time. */
export default function Kept({ id, span }: { id: string; span: Span }) {
  const t = useTexts();
  const words = useMeasuredWords();
  const [back, setBack] = useState(0); // so many spans before now
  const measured = useQuery({
    queryKey: ['measurements', id, span, back],
    queryFn: async () => {
      const until = Math.ceil(fleetdNow() / minute) * minute - back * spans[span];
      const query = {
        since: new Date(until - spans[span]).toISOString(),
        until: new Date(until).toISOString(),
        points: 360,
      };
      return data(api.GET('/api/v1/robots/{id}/measurements', { params: { path: { id }, query } }));
    },
    refetchInterval: back === 0 && span !== 'year' ? minute : false,
    placeholderData: keepPreviousData,
  });
  const got = measured.data;
  if (!got) {
    if (measured.isPending) return <Loader aria-label={t.loading} />;
    return (
      <Text>
        {t.failed}: {problemOf(measured.error).message}
      </Text>
    );
  }
  const why: Record<string, string> = { speed: t.speed, temperature: t.temperature };
  return (
    <Stack>
      <Group>
        <Button
          variant="default"
          leftSection={<IconChevronLeft size={16} aria-hidden />}
          onClick={() => setBack(back + 1)}
        >
          {t.earlier}
        </Button>
        <Button
          variant="default"
          rightSection={<IconChevronRight size={16} aria-hidden />}
          disabled={back === 0}
          onClick={() => setBack(back - 1)}
        >
          {t.later}
        </Button>
        <Text size="sm" role="status">
          {t.from(dateTime(got.since), dateTime(got.until))}
        </Text>
      </Group>
      <SimpleGrid cols={{ base: 1, lg: 2, xl: 3 }}>
        {measuredNames.map((name) => {
          const series = got.series?.find((s) => s.name === name);
          return (
            <Panel key={name} title={words[name]}>
              {series?.points?.length ? (
                <CurvePlot
                  name={words[name]}
                  unit={series.unit}
                  points={series.points}
                  stepS={got.step_s}
                  since={Date.parse(got.since)}
                  until={Date.parse(got.until)}
                  range={name === 'battery' ? percent : undefined}
                />
              ) : (
                <Nothing>{why[name] ?? (span === 'hour' && back === 0 ? `${t.none} ${t.soon}` : t.none)}</Nothing>
              )}
            </Panel>
          );
        })}
      </SimpleGrid>
    </Stack>
  );
}
