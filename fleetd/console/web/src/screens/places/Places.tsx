import { Badge, Button, Checkbox, Group, Select, Skeleton, Stack, Table, Text, Title, Tooltip } from '@mantine/core';
import { useState } from 'react';
import { useSearchParams } from 'react-router';

import { type Point, usePoints } from '../../api/points';
import { useMay } from '../../api/me';
import { useSiteMap } from '../../api/sites';
import { cornersOf } from '../../live/floorMap';
import { MapImage } from '../../live/MapImage';
import { fullName } from '../../live/RobotName';
import { useRobot, useRobots } from '../../live/robots';
import { Refused } from '../../shell/Refused';
import { GivePoints } from './GivePoints';
import { SiteMapForm } from './SiteMapForm';
import { usePlacesTexts } from './text';

/** The points of a robot, and giving them to others. */
export default function Places() {
  const t = usePlacesTexts();
  const mayAssign = useMay('assign');
  const [query, setQuery] = useSearchParams();
  const fleet = [...useRobots()].sort((a, b) => (a.id < b.id ? -1 : 1));
  const ids = fleet.map((r) => r.id);
  const robot = query.get('robot') ?? ids[0] ?? '';
  const [picked, setPicked] = useState<string[]>([]);
  const [dialog, setDialog] = useState<'give' | 'add'>();
  const known = useRobot(robot);
  const site = known?.labels.site ?? '';
  const points = usePoints(robot);
  const all = points.data?.points ?? [];
  const chosen = all.filter((p) => picked.includes(p.name) && p.at);
  const locked = { 'data-disabled': !mayAssign || undefined, 'aria-disabled': !mayAssign };
  return (
    <Stack>
      <Stack gap={2} maw={640}>
        <Title order={1} size="h2">
          {t.title}
        </Title>
        <Text size="sm" c="dimmed">
          {t.about}
        </Text>
      </Stack>
      <Group align="flex-end">
        <Select
          label={t.robot}
          searchable
          data={fleet.map((r) => ({ value: r.id, label: fullName(r) }))}
          value={ids.includes(robot) ? robot : null}
          onChange={(v) => {
            setPicked([]);
            setQuery(v ? { robot: v } : {}, { replace: true });
          }}
        />
        <Tooltip label={t.forbidden} disabled={mayAssign}>
          <Button variant="default" {...locked} onClick={() => mayAssign && setDialog('add')}>
            {t.add}
          </Button>
        </Tooltip>
        <Tooltip label={mayAssign ? t.giveHelp : t.forbidden}>
          <Button
            {...locked}
            data-disabled={!mayAssign || chosen.length === 0 || undefined}
            aria-disabled={!mayAssign || chosen.length === 0}
            onClick={() => mayAssign && chosen.length > 0 && setDialog('give')}
          >
            {t.give(chosen.length)}
          </Button>
        </Tooltip>
      </Group>
      {all.length > 0 && chosen.length === 0 && (
        <Text size="sm" c="dimmed">
          {mayAssign ? t.giveHelp : t.forbidden}
        </Text>
      )}
      {robot === '' && <Text>{t.choose}</Text>}
      {points.isLoading && <Skeleton h={160} aria-label={t.loading} />}
      {points.isError && <Refused error={points.error} onRetry={() => void points.refetch()} />}
      {points.data && all.length === 0 && <Text>{t.none}</Text>}
      {all.length > 0 && (
        <Group align="flex-start" gap="xl">
          <Table maw={560} highlightOnHover>
            <Table.Thead>
              <Table.Tr>
                <Table.Th />
                <Table.Th>{t.name}</Table.Th>
                <Table.Th>{t.from}</Table.Th>
                <Table.Th>{t.at}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {all.map((p) => (
                <Table.Tr key={p.name}>
                  <Table.Td>
                    <Checkbox
                      aria-label={t.pick(p.name)}
                      disabled={!p.at}
                      checked={picked.includes(p.name)}
                      onChange={() =>
                        setPicked(picked.includes(p.name) ? picked.filter((n) => n !== p.name) : [...picked, p.name])
                      }
                    />
                  </Table.Td>
                  <Table.Td fw={500}>{p.name}</Table.Td>
                  <Table.Td>
                    <Badge
                      variant="light"
                      tt="none"
                      miw="max-content"
                      color={p.from === 'taught' ? 'violet' : p.from === 'places' ? 'indigo' : 'gray'}
                    >
                      {t.origins[p.from]}
                    </Badge>{' '}
                    {!p.known && <Text size="xs">{t.waiting}</Text>}
                  </Table.Td>
                  <Table.Td>
                    {p.at ? (
                      <>
                        <span className="one-line">{`${p.at.x_m.toFixed(2)}, ${p.at.y_m.toFixed(2)} m`}</span>
                        {p.at.theta_rad !== undefined && `, ${degrees(p.at.theta_rad)}°`}
                      </>
                    ) : (
                      t.onlyRobot
                    )}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
          <Drawing
            points={all}
            site={site}
            onMap={all.some((p) => p.from === 'taught') ? (points.data?.taught_map_sha256 ?? '') : undefined}
          />
        </Group>
      )}
      {known && <SiteMapForm key={site} site={site} />}
      {dialog && (
        <GivePoints
          robot={robot}
          points={dialog === 'give' ? chosen : []}
          map={points.data?.taught_map_sha256}
          onClose={() => setDialog(undefined)}
        />
      )}
    </Stack>
  );
}

const degrees = (rad: number) => Math.round((rad * 180) / Math.PI);

/** The points with a position on the map of their site, from above: x to the right, y up. */
function Drawing({ points, site, onMap }: { points: readonly Point[]; site: string; onMap?: string }) {
  const t = usePlacesTexts();
  const map = useSiteMap(site, onMap);
  const placed = points.flatMap((p) => (p.at ? [{ name: p.name, ...p.at }] : []));
  if (placed.length === 0) return null;
  const corners = map ? cornersOf(map) : [];
  const xs = [...placed.map((p) => p.x_m), ...corners.map((p) => p.x)];
  const ys = [...placed.map((p) => p.y_m), ...corners.map((p) => p.y)];
  const [left, bottom] = [Math.min(...xs) - 1, Math.min(...ys) - 1];
  const width = Math.max(...xs) + 1 - left;
  const height = Math.max(...ys) + 1 - bottom;
  const r = Math.max(width, height) / 60;
  return (
    <svg
      role="img"
      aria-label={t.drawing}
      viewBox={`${left} ${-(bottom + height)} ${width} ${height}`}
      className="places-map"
    >
      {map && <MapImage site={site} map={map} />}
      {placed.map((p) => (
        <g key={p.name}>
          <circle cx={p.x_m} cy={-p.y_m} r={r} className="places-point" />
          {p.theta_rad !== undefined && (
            <line
              x1={p.x_m}
              y1={-p.y_m}
              x2={p.x_m + 3 * r * Math.cos(p.theta_rad)}
              y2={-(p.y_m + 3 * r * Math.sin(p.theta_rad))}
              strokeWidth={r / 2}
              className="places-heading"
            />
          )}
          <text x={p.x_m + 1.5 * r} y={-p.y_m - 1.2 * r} fontSize={r * 2.4} className="places-name">
            {p.name}
          </text>
        </g>
      ))}
    </svg>
  );
}
