import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, memo, Suspense } from 'react';

import { api, data } from '../../api/client';
import { problemOf } from '../../api/problem';
import { Panel, RobotLink } from './Panels';
import { useOverviewTexts } from './text';

const CurvePlot = lazy(() => import('../robot/CurvePlot'));

/** ms between two looks: a point is of 15 minutes. */
const every = 5 * 60_000;
const percent: [number, number] = [0, 100];

/** The batteries of all robots in the last day: the mean, and around it the least and the greatest. */
export const FleetBattery = memo(function FleetBattery({ site }: { site: string }) {
  const t = useOverviewTexts();
  const measured = useQuery({
    queryKey: ['overview', 'battery', site],
    queryFn: () =>
      data(api.GET('/api/v1/measurements', { params: { query: { name: 'battery', site: site || undefined } } })),
    refetchInterval: every,
  });
  const got = measured.data;
  const last = got?.points?.at(-1);
  return (
    <Panel title={t.batteryTitle}>
      {measured.isError && (
        <Text size="sm">
          {t.batteryFailed}: {problemOf(measured.error).message}
        </Text>
      )}
      {got && !last && <Text size="sm">{t.noBattery}</Text>}
      {got && last && (
        <>
          <Suspense fallback={null}>
            <CurvePlot
              name={t.batteryTitle}
              unit={got.unit}
              points={got.points ?? []}
              stepS={got.step_s}
              since={Date.parse(got.since)}
              until={Date.parse(got.until)}
              range={percent}
              height={130}
            />
          </Suspense>
          <Text size="sm">
            {t.lowestBattery(Math.round(last.min))} <RobotLink id={last.lowest} />
          </Text>
        </>
      )}
    </Panel>
  );
});
