import {
  Button,
  Checkbox,
  Group,
  Modal,
  NumberInput,
  SegmentedControl,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  useMatches,
} from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { api, data, type Schemas } from '../../api/client';
import { lineOf } from '../../api/lines';
import type { Point } from '../../api/points';
import { problemOf } from '../../api/problem';
import { useRobot } from '../../live/robots';
import { CommandLine } from '../../shell/CommandLine';
import { NumberChanged } from '../../shell/NumberChanged';
import { Refused } from '../../shell/Refused';
import { toast } from '../../shell/toast';
import { usePlacesTexts } from './text';

const validName = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** Gives points to robots: those that were chosen, or a new one. A check shows how many robots get them. */
export function GivePoints({
  robot,
  points,
  map,
  onClose,
}: {
  robot: string;
  points: readonly Point[];
  map?: string;
  onClose: () => void;
}) {
  const t = usePlacesTexts();
  const queries = useQueryClient();
  const site = useRobot(robot)?.labels.site;
  const [whom, setWhom] = useState('robot');
  const [replace, setReplace] = useState(false);
  const [own, setOwn] = useState({ name: '', x: 0, y: 0, heading: '' as number | '' });
  const [plan, setPlan] = useState<Schemas['DesiredResult']>();
  const [error, setError] = useState<unknown>();
  /** The number of robots that a person agreed to and that was no longer right. */
  const [before, setBefore] = useState<number>();
  const orientation = useMatches({ base: 'vertical', xs: 'horizontal' } as const);
  const fresh = points.length === 0;
  const given = fresh
    ? {
        [own.name]: {
          x_m: own.x,
          y_m: own.y,
          theta_rad: own.heading === '' ? undefined : (own.heading * Math.PI) / 180,
        },
      }
    : Object.fromEntries(points.map((p) => [p.name, p.at!]));
  const selector =
    whom === 'robot'
      ? { ids: [robot] }
      : whom === 'site'
        ? { labels: [{ key: 'site', value: site ?? '' }] }
        : { all: true };
  const taught = points.some((p) => p.from === 'taught');
  const body = {
    selector,
    points: { points: given, replace, map_sha256: taught ? map : undefined },
    expected_count: plan?.total,
  };

  const check = () =>
    data(api.POST('/api/v1/desired', { body: { ...body, dry_run: true, expected_count: undefined } }));
  const send = async (dry: boolean) => {
    setError(undefined);
    setBefore(undefined);
    try {
      if (dry) return setPlan(await check());
      const { updated } = await data(api.POST('/api/v1/desired', { body }));
      toast({ message: t.accepted(updated?.length ?? 0) }, updated ?? []);
      await queries.invalidateQueries({ queryKey: ['points'] });
      return onClose();
    } catch (thrown) {
      if (!problemOf(thrown).numberChanged) {
        setPlan(undefined);
        return setError(thrown);
      }
      setBefore(plan?.total);
      return check().then(setPlan, setError);
    }
  };
  const put = (change: Partial<typeof own>) => {
    setPlan(undefined);
    setBefore(undefined);
    setOwn({ ...own, ...change });
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={fresh ? t.addTitle : t.giveTitle}
      closeButtonProps={{ 'aria-label': t.close }}
    >
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void send(!plan);
        }}
      >
        <Stack>
          {fresh ? (
            <>
              <TextInput
                label={t.name}
                required
                data-autofocus
                value={own.name}
                error={own.name && !validName.test(own.name) ? t.bad : undefined}
                onChange={(e) => put({ name: e.currentTarget.value })}
              />
              <SimpleGrid cols={{ base: 2, xs: 3 }}>
                <NumberInput
                  label={t.x}
                  value={own.x}
                  decimalScale={2}
                  step={0.1}
                  onChange={(v) => put({ x: Number(v) })}
                />
                <NumberInput
                  label={t.y}
                  value={own.y}
                  decimalScale={2}
                  step={0.1}
                  onChange={(v) => put({ y: Number(v) })}
                />
                <NumberInput
                  label={t.heading}
                  placeholder={t.headingHelp}
                  value={own.heading}
                  min={-180}
                  max={180}
                  onChange={(v) => put({ heading: v === '' ? '' : Number(v) })}
                />
              </SimpleGrid>
            </>
          ) : (
            <Text fw={500}>{points.map((p) => p.name).join(', ')}</Text>
          )}
          <SegmentedControl
            aria-label={t.whom}
            orientation={orientation}
            fullWidth
            value={whom}
            onChange={(v) => {
              setPlan(undefined);
              setBefore(undefined);
              setWhom(v);
            }}
            data={[
              { value: 'robot', label: `${t.thisRobot}: ${robot}` },
              ...(site ? [{ value: 'site', label: t.site(site) }] : []),
              { value: 'all', label: t.all },
            ]}
          />
          <Checkbox
            label={t.replace}
            checked={replace}
            onChange={(e) => {
              setPlan(undefined);
              setBefore(undefined);
              setReplace(e.currentTarget.checked);
            }}
          />
          {plan && (
            <Text size="sm" role="status">
              {t.would(plan.updated?.length ?? 0, plan.total)}
            </Text>
          )}
          {before !== undefined && <NumberChanged before={before} now={plan?.total} />}
          {error !== undefined && <Refused error={error} />}
          <Group justify="flex-end">
            {(!fresh || validName.test(own.name)) && <CommandLine lines={[lineOf('desired', { body })]} />}
            <Button variant="default" onClick={onClose}>
              {t.cancel}
            </Button>
            <Button type="submit" disabled={fresh && !validName.test(own.name)}>
              {plan ? t.send : t.check}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
