import { Alert, Box, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { IconArrowRight, IconCircleCheckFilled } from '@tabler/icons-react';

import type { Schemas } from '../../api/client';
import { useMay } from '../../api/me';
import { OwnSentence } from '../../live/OwnSentence';
import { texts } from '../../text/language';
import { useModeName } from '../../text/modes';
import { ownReason, reasonText, useReasonTexts } from '../../text/reasons';
import { useRightTexts } from '../../text/rights';
import { clock } from '../../text/time';
import { inWords, useTermWords } from '../../text/terms';
import { ActionButton } from './ActionButton';
import { useEvents, usePage } from './page';
import { PartLines } from './PartLines';
import { useRobotTexts } from './text';

const useTexts = texts(
  {
    title: 'Mode',
    to: (mode: string) => `Switch to ${mode}`,
    label: (mode: string) => `mode ${mode}`,
    active: 'in charge',
    starting: 'is starting',
    waitsForRobot: 'waits 30 s for the robot, then expires',
    fellBack: (from: string, to: string, why: string, at: string) =>
      `It fell back from ${from} to ${to}${at ? ` at ${at}` : ''}${why ? ` because ${why}` : ''}.`,
    none: 'The robot has not reported its modes yet.',
  },
  {
    title: 'Modus',
    to: (mode: string) => `Wechseln: ${mode}`,
    label: (mode: string) => `Modus ${mode}`,
    active: 'aktiv',
    starting: 'beginnt',
    waitsForRobot: 'wartet 30 s auf den Roboter und läuft dann ab',
    fellBack: (from: string, to: string, why: string, at: string) =>
      `Er fiel${at ? ` um ${at}` : ''} von ${from} auf ${to} zurück${why ? `, denn ${why}` : ''}.`,
    none: 'Der Roboter hat seine Modi noch nicht gemeldet.',
  },
  {
    title: 'Mode',
    to: (mode) => `Passer en ${mode}`,
    label: (mode) => `mode ${mode}`,
    active: 'en charge',
    starting: 'démarre',
    waitsForRobot: 'attend le robot 30 s, puis expire',
    fellBack: (from, to, why, at) =>
      `Il est retombé de ${from} à ${to}${at ? ` à ${at}` : ''}${why ? `, parce que : ${why}` : ''}.`,
    none: 'Le robot n’a pas encore signalé ses modes.',
  },
);

type Mode = Schemas['SchemaMode'];

/** The modes of the robot, each with why it cannot be chosen now, and what was requested beside what is reported. */
export function Modes() {
  const t = useTexts();
  const common = useRobotTexts();
  const { robot, detail, stale } = usePage();
  const terms = useTermWords();
  const name = useModeOfRobot();
  const modes = detail?.modes?.modes.filter((m) => m.id !== 'safe' || m.id === robot.mode) ?? [];
  return (
    <Stack gap="xs" role="group" aria-label={t.title} data-part className={stale ? 'old' : undefined}>
      <Group gap="xs" data-testid="mode">
        <Text size="sm" c="dimmed">
          {common.requested}:
        </Text>
        <Text size="sm" fw={500}>
          {name(robot.intended || robot.mode)}
        </Text>
        <Box visibleFrom="xs" lh={0}>
          <IconArrowRight size={14} aria-hidden />
        </Box>
        <Text size="sm" c="dimmed">
          {common.reported}:
        </Text>
        <Text size="sm" fw={500}>
          {name(robot.mode)}
          {robot.mode_phase && robot.mode_phase !== 'running' ? `, ${inWords(terms.ModePhase, robot.mode_phase)}` : ''}
        </Text>
        <PartLines />
      </Group>
      <FellBack />
      {modes.length === 0 ? (
        <Text size="sm" c="dimmed">
          {detail ? t.none : common.loading}
        </Text>
      ) : (
        <SimpleGrid cols={{ base: Math.min(3, modes.length), md: Math.min(5, modes.length) }} spacing="xs">
          {modes.map((m) => (
            <One key={m.id} mode={m} />
          ))}
        </SimpleGrid>
      )}
    </Stack>
  );
}

/** The name of a mode of the robot, with the term of the contract. */
export function useModeOfRobot(): (id?: string) => string {
  const name = useModeName();
  const { detail } = usePage();
  return (id) => (id ? name(id, detail?.modes?.modes.find((m) => m.id === id)?.name) : '?');
}

function One({ mode }: { mode: Mode }) {
  const t = useTexts();
  const common = useRobotTexts();
  const reasons = useReasonTexts();
  const name = useModeOfRobot();
  const { robot, stale } = usePage();
  const { lacks } = useRightTexts();
  const may = useMay('command');
  const active = robot.mode === mode.id;
  const why = mode.why_not[0];
  let text = active ? t.active : mode.selectable ? '' : reasonText(reasons, why?.reason, why?.detail);
  if (robot.intended === mode.id && !active && robot.mode_phase === 'switching') text = t.starting;
  // What a robot that is away said is old: the command may still reach it in time.
  let whyNot = active ? t.active : stale || mode.selectable ? '' : text;
  if (stale === 'robot' && !active) text = t.waitsForRobot;
  if (!may) whyNot = lacks(common.rights.command, 'command');
  else if (stale === 'page') whyNot = common.noFleetd;
  return (
    <Stack gap={2}>
      <ActionButton
        whyNot={whyNot}
        variant={active ? 'filled' : 'default'}
        mih={48}
        px={6}
        className="long-button mode-button"
        chosen={active}
        label={active ? `${name(mode.id)}: ${t.active}` : t.to(name(mode.id))}
        sends={['mode/set', { mode: mode.id }, t.label(name(mode.id))]}
      >
        {name(mode.id)}
      </ActionButton>
      <Text size="xs" c="dimmed" dir="auto" className="any-text">
        {active && <IconCircleCheckFilled size={12} aria-hidden />} {!may && !active ? whyNot : text}
        {!active && !mode.selectable && <OwnSentence>{ownReason(reasons, why?.reason, why?.detail)}</OwnSentence>}
      </Text>
    </Stack>
  );
}

/** Why the robot is not in the mode that was asked for. */
function FellBack() {
  const { detail } = usePage();
  return detail?.state?.mode.fallback_from ? <Fallback from={detail.state.mode.fallback_from} /> : null;
}

function Fallback({ from }: { from: string }) {
  const t = useTexts();
  const reasons = useReasonTexts();
  const name = useModeOfRobot();
  const { id, robot } = usePage();
  const last = useEvents(id, { type: 'mode_fallback', limit: 1 }, 10_000).data?.[0];
  const data = (last?.data ?? {}) as { reason?: string; detail?: string };
  return (
    <Alert color="yellow" p="xs" data-testid="fell-back">
      <Text size="sm" dir="auto">
        {t.fellBack(
          name(from),
          name(robot.mode),
          reasonText(reasons, data.reason, data.detail),
          last ? clock(last.received) : '',
        )}
        <OwnSentence>{ownReason(reasons, data.reason, data.detail)}</OwnSentence>
      </Text>
    </Alert>
  );
}
