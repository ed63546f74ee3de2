import { Alert, Button, Group, List, Loader, Modal, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';

import { useMay } from '../../api/me';
import { type Problem, problemOf } from '../../api/problem';
import { robots as fleet } from '../../live/robots';
import { CommandLine } from '../../shell/CommandLine';
import { lineFor } from './lines';
import { changing, grouped, type Outcome, type Revert, type What } from './model';
import { assign } from './request';
import { names, Refusal } from './Summary';
import { useAssignTexts } from './text';
import { useNamed } from './useNamed';

/** Up to this many robots are named in one request. */
const chunk = 1000;

function chunks(all: readonly Revert[]): Revert[] {
  return all.flatMap((b) => {
    const out: Revert[] = [];
    for (let at = 0; at < b.robots.length; at += chunk) out.push({ ...b, robots: b.robots.slice(at, at + chunk) });
    return out;
  });
}

interface Props {
  what: What;
  outcome: Outcome;
  /** Robots that were assigned something else since: they are left alone. */
  replaced: string[];
  /** The assignment was reverted: what the robots get, and how far they are is followed from now on. */
  onBack: (what: What, outcome: Outcome) => void;
  /** What the button says, if not what it does. */
  label?: string;
}

/** Reverts an assignment, after a look at what the robots had before. */
export function RevertButton({ what, outcome, replaced, onBack, label }: Props) {
  const t = useAssignTexts();
  const reasonID = useId();
  const may = useMay('assign');
  const named = useNamed(what);
  const [open, setOpen] = useState(false);
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<Problem>();
  const ids = changing(outcome).map((l) => l.robot);
  const all: Revert[] = chunks(outcome.back).map((b) => ({
    ...b,
    robots: b.robots.filter((r) => !replaced.includes(r)),
  }));
  const way = all.filter((b) => b.robots.length > 0);
  const kept = ids.filter((r) => !replaced.includes(r) && !way.some((b) => b.robots.includes(r)));
  const whyNot = !may
    ? t.forbidden
    : way.length > 0
      ? ''
      : replaced.length > 0
        ? t.changedSince(names(replaced, 20))
        : t.noWayBack;
  const when = t.whenBacks[what.kind === 'back' ? (what.of ?? 'story') : what.kind];
  const dry = useQuery({
    queryKey: ['back', way],
    enabled: open,
    gcTime: 0,
    staleTime: 0,
    retry: false,
    queryFn: async () => {
      const found = [];
      for (const b of way) found.push(await assign(b.what, { ids: b.robots }, { dry: true }, fleet.everything()));
      return found.flatMap((o) => o.lines);
    },
  });
  const go = (dry.data ?? []).filter((l) => l.changes);
  const submit = async () => {
    setBusy(true);
    setRefused(undefined);
    try {
      const sent: Outcome[] = [];
      for (const b of way) {
        const robots = b.robots.filter((r) => go.some((l) => l.robot === r));
        if (robots.length === 0) continue;
        const o = { dry: false, expected: robots.length, why: t.revertWhy } as const;
        sent.push(await assign(b.what, { ids: robots }, o, fleet.everything()));
      }
      setOpen(false);
      onBack(way[0]!.what, {
        total: sent.reduce((n, o) => n + o.total, 0),
        lines: sent.flatMap((o) => o.lines),
        back: sent.flatMap((o) => o.back),
      });
    } catch (thrown) {
      // A second revert undoes the first, and fleetd may have carried this one out, or some of it: it is not
      // offered again before a new look at what the robots have.
      setRefused(problemOf(thrown));
    }
    setBusy(false);
  };
  return (
    <>
      <Group>
        <Button
          variant="default"
          disabled={!!whyNot}
          aria-describedby={whyNot ? reasonID : undefined}
          onClick={() => {
            setRefused(undefined);
            setOpen(true);
          }}
        >
          {label ?? (what.kind === 'back' ? t.forth : t.revert)}
        </Button>
        {whyNot && (
          <Text id={reasonID} size="sm" c="dimmed">
            {whyNot}
          </Text>
        )}
      </Group>
      <Modal
        opened={open}
        onClose={() => setOpen(false)}
        title={t.revertTitle}
        size="lg"
        closeButtonProps={{ 'aria-label': t.close }}
      >
        <Stack>
          {dry.isFetching && !dry.data && <Loader size="sm" aria-label={t.checking} />}
          {dry.isError && <Refusal p={problemOf(dry.error)} title={t.refused} />}
          <List size="sm" data-testid="back">
            {grouped(go.map((l) => [l.then, l.robot])).map(([to, robots]) => (
              <List.Item key={to}>
                <b>{t.revertTo(robots.length)}</b> <span dir="auto">{named(to)}</span> ({names(robots, 20)})
              </List.Item>
            ))}
            {grouped((dry.data ?? []).filter((l) => !l.changes).map((l) => [l.note || t.sameAlready, l.robot])).map(
              ([why, robots]) => (
                <List.Item key={why}>
                  {t.unchanged(robots.length)}: <span dir="auto">{why}</span> ({names(robots, 20)})
                </List.Item>
              ),
            )}
            {kept.length > 0 && (
              <List.Item>
                {t.unchanged(kept.length)}: {t.noWayBack} ({names(kept, 20)})
              </List.Item>
            )}
          </List>
          {replaced.length > 0 && <Alert color="yellow" title={t.changedSince(names(replaced, 20))} />}
          {go.length > 0 && when && <Text size="sm">{when}</Text>}
          {what.kind === 'activities' && <Text size="sm">{t.newestAgain}</Text>}
          {refused && <Refusal p={refused} title={t.refused} />}
          {refused && <Text size="sm">{t.revertUnclear}</Text>}
          <Group justify="flex-end">
            {dry.data && go.length === 0 && (
              <Text size="sm" c="dimmed" role="status">
                {t.nothingChanges}
              </Text>
            )}
            <CommandLine lines={way.map((b) => lineFor(b.what, { ids: b.robots }, b.robots.length, t.revertWhy))} />
            <Button variant="default" onClick={() => setOpen(false)}>
              {t.cancel}
            </Button>
            <Button
              loading={busy}
              disabled={go.length === 0 || dry.isFetching || !!refused}
              onClick={() => void submit()}
            >
              {t.revertNow(go.length)}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
