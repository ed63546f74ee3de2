import { Alert, Button, Group, Modal, Stack, Table, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useLocation } from 'react-router';

import { api, data, type LatchedStop } from '../api/client';
import { lineOf } from '../api/lines';
import { problemOf } from '../api/problem';
import { useRobots } from '../live/robots';
import { useLive } from '../live/stream';
import { dateTime } from '../text/time';
import { type Asked, askRelease, useAsked } from './askRelease';
import { CommandLine } from './CommandLine';
import { heldBy, release, stoppedBy } from './stopping';
import { useShellTexts } from './text';
import { toast } from './toast';

/** Up to this many robots of a stop are named; more are counted. */
const named = 4;

/** The robots on which a stop is latched, for people. */
export function useWhom(stop: Pick<LatchedStop, 'id' | 'all' | 'count' | 'labels'> & { robots?: string[] }): string {
  const t = useShellTexts();
  const reported = heldBy(stop.id, useRobots()).sort();
  // A robot that is not connected may never have reported it: fleetd's list names those.
  const unnamed = !stop.all && stop.count > 0 && stop.count <= named && reported.length !== stop.count;
  const listed = useQuery({
    queryKey: ['stops', stop.id, stop.count],
    queryFn: async () => (await data(api.GET('/api/v1/stops'))).stops.find((s) => s.id === stop.id)?.robots ?? [],
    enabled: unnamed && stop.robots?.length !== stop.count,
    staleTime: Infinity,
  }).data;
  const held = [stop.robots, listed].find((names) => names?.length === stop.count) ?? reported;
  if (stop.all) return t.allRobots;
  // fleetd does not know yet which robots have them.
  const byLabels = Object.entries(stop.labels ?? {}).map(([key, value]) => `${key}=${value}`);
  if (stop.count === 0 && byLabels.length > 0) return byLabels.join(', ');
  return stop.count <= named && held.length === stop.count ? held.join(', ') : t.robots(stop.count);
}

const close = () => askRelease(undefined);

/** The dialog of the release that is asked for; another page closes it. */
export function Release() {
  const asked = useAsked((s) => s.asked);
  const { pathname } = useLocation();
  useEffect(() => close, [pathname]);
  return asked && <ReleaseDialog key={asked.stop.id} {...asked} />;
}

/** Releases one latched stop, with a reason. It names the robots that it releases, and whose stop it was. */
function ReleaseDialog({ stop, robot, onReleased }: Asked) {
  const t = useShellTexts();
  const known = useLive((s) => s.fleetd?.latched.find((l) => l.id === stop.id));
  const count = known?.count ?? 1;
  const all = !!(stop.all || known?.all);
  const live = useLive((s) => s.connection === 'live');
  const fleet = useRobots();
  const over = heldBy(stop.id, fleet).length === 0 && live && !known;
  const others = fleet.filter((r) => r.latches.length > 1 && r.latches.some((l) => l.id === stop.id)).map((r) => r.id);
  const held = useWhom({ id: stop.id, all, count, robots: known?.robots });
  const whom = robot && count === 1 && !all ? robot : held;
  const [why, setWhy] = useState('');
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState('');
  const submit = async () => {
    setBusy(true);
    try {
      await release([stop.id], why.trim());
      onReleased?.(why.trim());
      const about = robot ? [robot] : (known?.robots ?? []);
      toast(
        {
          title: t.released(whom),
          message: stop.level === 'halt' ? t.releasedHalt : count > 1 || all ? t.releasedMany : t.releasedHelp,
          color: 'blue',
        },
        about,
      );
      close();
    } catch (thrown) {
      const p = problemOf(thrown);
      setRefused([p.message, p.hint].filter(Boolean).join('; '));
    }
    setBusy(false);
  };
  const facts: [string, string][] = [
    [t.releaseWhom, whom],
    [t.stoppedBy, stoppedBy(stop) || t.somebody],
    [t.stoppedAt, dateTime(stop.since)],
    [t.stoppedWhy, stop.why || t.noWhy],
    [t.stopID, `${stop.id} (${stop.level})`],
  ];
  return (
    <Modal opened onClose={close} title={t.releaseTitle(whom)} closeButtonProps={{ 'aria-label': t.close }}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          if (why.trim()) void submit();
        }}
      >
        <Stack>
          <Table withRowBorders={false} verticalSpacing={2} horizontalSpacing={0} layout="fixed">
            <Table.Tbody>
              {facts.map(([name, value]) => (
                <Table.Tr key={name}>
                  <Table.Th w={120} fw={400} scope="row" style={{ verticalAlign: 'top' }}>
                    <Text size="sm" c="dimmed">
                      {name}
                    </Text>
                  </Table.Th>
                  <Table.Td style={{ overflowWrap: 'anywhere' }}>
                    <Text
                      size="sm"
                      fw={name === t.releaseWhom ? 500 : undefined}
                      c={name === t.stopID ? 'dimmed' : undefined}
                      dir="auto"
                    >
                      {value}
                    </Text>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
          {robot && (all || count > 1) && (
            <Alert color="yellow" title={all ? t.releasesAll : t.releasesOthers(count)} />
          )}
          {over && <Alert color="blue" title={t.releasedAlready} />}
          {others.length > 0 && (
            <Text size="sm" data-testid="stays-stopped">
              {t.staysStopped(
                others.length,
                others.length <= named ? others.sort().join(', ') : t.robots(others.length),
              )}
            </Text>
          )}
          <Text size="sm">{stop.level === 'halt' ? t.releaseHaltHelp : t.releaseHelp}</Text>
          <TextInput
            label={whom === robot ? t.releaseWhyOne : t.releaseWhy}
            value={why}
            maxLength={256}
            required
            size="md"
            data-autofocus
            dir="auto"
            error={refused || undefined}
            onChange={(e) => setWhy(e.currentTarget.value)}
          />
          <Group justify="flex-end">
            <CommandLine lines={[lineOf('release-stops', { body: { ids: [stop.id], why } })]} />
            <Button variant="default" h={48} onClick={close}>
              {t.cancel}
            </Button>
            <Button type="submit" h={48} loading={busy} disabled={why.trim() === ''}>
              {t.releaseNow}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
