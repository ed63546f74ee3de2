import { Alert, Anchor, Group, List, Stack, Text, Title } from '@mantine/core';
import { IconArrowRight, IconCircleCheck } from '@tabler/icons-react';
import { useRef } from 'react';
import { Link, useNavigate } from 'react-router';

import { api, type Robot } from '../../api/client';
import { lineOf } from '../../api/lines';
import { useMay } from '../../api/me';
import type { Verb } from '../../contract';
import { useNameOf, useNamesIn } from '../../live/entries';
import { OwnSentence } from '../../live/OwnSentence';
import { performing } from '../../live/performing';
import { doesText, toneColor, useAbout, usePerformingTexts } from '../../live/PerformingBadge';
import { askRelease } from '../../shell/askRelease';
import { useIgnorePressesAfterChange } from '../../shell/press';
import { alertSays, ownBeside, useAlertWords } from '../../text/alerts';
import { inButtons } from '../../text/buttons';
import { ownPresence, presenceText } from '../../text/presence';
import { reasonText, saidText, useReasonTexts, whyText } from '../../text/reasons';
import { sourceText } from '../../text/source';
import { clock } from '../../text/time';
import { ActionButton, useWhyNot } from './ActionButton';
import { usePage, useStopper } from './page';
import { PartLines } from './PartLines';
import { change, noteRelease } from './sending';
import { blocker, type Step, stepID, wayOut } from './wayOut';
import { stepName, stopperText, useWayOutTexts } from './wayOutText';

/** Why the robot does not perform, what to do next, and what comes after it. */
export function WayOut() {
  const t = useWayOutTexts();
  const words = usePerformingTexts();
  const { robot, detail } = usePage();
  const steps = wayOut(robot, detail);
  const part = useRef<HTMLDivElement>(null);
  // The next step's button is where that of the one before was: a second press of that must not enable the robot.
  useIgnorePressesAfterChange(part, steps.map(stepID).join(' '));
  const p = performing(robot);
  const about = useAbout();
  const assigns = useMay('assign');
  if (steps.length === 0) {
    if (p.tone !== 'good') return null;
    return (
      <Group gap={6} wrap="nowrap" align="flex-start" role="status" data-testid="way-out">
        <IconCircleCheck size={20} color="var(--mantine-color-green-6)" aria-hidden />
        <Text size="sm" dir="auto">
          {t.performs} {about(p.of)}
          {assigns && (
            <Anchor
              component={Link}
              size="sm"
              ms="md"
              underline="always"
              to={`/assign?${new URLSearchParams({ selector: JSON.stringify({ ids: [robot.id] }) })}`}
            >
              {t.anotherStory}
            </Anchor>
          )}
        </Text>
      </Group>
    );
  }
  const [first, ...rest] = steps;
  return (
    <Alert
      ref={part}
      color={toneColor[p.tone]}
      variant="light"
      role="region"
      aria-label={t.title}
      data-testid="way-out"
      data-part
    >
      <Stack gap="sm">
        <Group justify="space-between" align="flex-start" wrap="nowrap">
          <Title order={2} size="h4" aria-live="polite">
            {t.title}
            <span className="visually-hidden">{`: ${doesText(words, robot)}`}</span>
          </Title>
          <PartLines />
        </Group>
        <Cause first={first!} />
        <Next key={stepID(first!)} step={first!} />
        {rest.length > 0 && (
          <Stack gap={6}>
            <Text size="sm" fw={500}>
              {t.then}
            </Text>
            <List size="sm" spacing={8} className="step-list" icon={<IconArrowRight size={14} aria-hidden />}>
              {rest.map((s, i) => {
                const first = blocker(steps, i + 1);
                return (
                  <List.Item key={stepID(s)} data-testid={`then-${s.key}`}>
                    <Stack gap={4} align="flex-start">
                      <StepText step={s} />
                      <StepButton step={s} later={first ? t.first(stepName(t, first)) : ''} />
                    </Stack>
                  </List.Item>
                );
              })}
            </List>
          </Stack>
        )}
      </Stack>
    </Alert>
  );
}

/** Why it does not perform: what the robot says about its stop, or what the first step ends; with the alerts that are more than a warning. */
function Cause({ first }: { first: Step }) {
  const t = useWayOutTexts();
  const reasons = useReasonTexts();
  const { robot } = usePage();
  const alerts = useAlertWords();
  const named = useNamesIn();
  const stopper = useStopper();
  const away = robot.doing === 'not_connected'; // then the last cause of its safety says nothing about now
  const grave = robot.alerts.filter((a) => a.level === 'error' || a.level === 'critical');
  const paused = causedBy(robot, first) && first.key === 'continue';
  const said = (): string | undefined => {
    if (first.key === 'continue' && paused) return t.steps.continue(first.by || t.somebody, first.why);
    if (away) return presenceText(robot.presence);
    // A stop that outlasts a restart is why the robot waits, not the restart.
    if (first.key === 'release' && robot.cause === 'restarted') return '';
    if (stopper) return stopperText(t, stopper, robot);
    const reason = reasonText({ ...reasons, ...t.causes }, robot.cause);
    const by = [reason, sourceText(robot.latched_by ?? '')].filter(Boolean).join(', ');
    // What stopped it is a sentence of the robot; who did is a name.
    if (robot.cause_detail) return saidText(by, [reason, inButtons(robot.cause_detail)].filter(Boolean).join(', '));
    return by;
  };
  const cause = said();
  // Who stopped it says more than the robot's own sentence.
  const own = away ? ownPresence(robot.presence) : stopper ? '' : inButtons(robot.cause_detail ?? '');
  const moves = !away && !paused && robot.safety === 'ENABLED'; // then its last stop is over
  const step = todoOf(t, first) && !causedBy(robot, first) && <StepText step={first} />;
  if (!step && (moves || (!cause && grave.length === 0))) return null;
  return (
    <Stack gap={2}>
      <Text size="sm">
        <Text span fw={500}>
          {t.because}:{' '}
        </Text>
        {!moves && <bdi>{cause}</bdi>}
        {!moves && cause && step && '; '}
        {step}
        {!moves && !cause?.includes(own) && <OwnSentence>{own}</OwnSentence>}
      </Text>
      {!moves &&
        grave.map((a) => (
          <Text key={a.id} size="sm" dir="auto">
            {alertSays(alerts, named(a))}
            <OwnSentence>{ownBeside(alerts, a)}</OwnSentence>
          </Text>
        ))}
    </Stack>
  );
}

function StepText({ step }: { step: Step }) {
  const t = useWayOutTexts();
  const words = usePerformingTexts();
  const reasons = useReasonTexts();
  const act = useNameOf('act');
  const { robot, detail, stale } = usePage();
  const failed = detail?.state?.queue.failed.at(-1);
  switch (step.key) {
    case 'release': {
      const l = step.latch;
      return <span dir="auto">{t.steps.release(l.by || l.client || t.somebody, clock(l.since), l.why ?? '')}</span>;
    }
    case 'repair':
      return <span dir="auto">{t.steps.repair(step.unit, step.fault, step.rests)}</span>;
    case 'mode':
      return <span>{t.steps.mode(words[modeKey(robot.mode)])}</span>;
    case 'continue':
      return (
        <span dir="auto">
          {step.token.startsWith('operator') ? t.steps.continue(step.by || t.somebody, step.why) : t.steps.resume}
        </span>
      );
    case 'failing': {
      const own = inButtons(step.error);
      const error = saidText(failed && `${act(failed.act)}: ${reasonText(reasons, failed.reason)}`, own);
      const hint = inButtons(step.hint);
      const translated = error !== own; // then what the robot says of it stands below, with what helps
      return (
        <span dir="auto">
          {t.steps.failing(step.rounds, error, translated ? '' : hint)}
          <OwnSentence>{translated ? [own, hint].filter(Boolean).join('; ') : ''}</OwnSentence>
        </span>
      );
    }
    case 'endsByItself':
      return (
        <span dir="auto" title={inButtons(step.detail)}>
          {t.steps.endsByItself(saidText(whyText(reasons, step.why), inButtons(step.detail)))}
        </span>
      );
    case 'connect':
      if (stale === 'broker') return <span>{t.steps.broker}</span>;
      return <span>{robot.presence.status === 'offline' ? t.steps.startAgain : t.steps.connect}</span>;
    default:
      return <span>{t.steps[step.key]}</span>;
  }
}

function modeKey(mode?: string): 'manual' | 'start_up' | 'safe_mode' | 'other_mode' {
  return mode === 'mnl' ? 'manual' : mode === 'str' ? 'start_up' : mode === 'safe' ? 'safe_mode' : 'other_mode';
}

/** Whether the cause already says why this step is needed. */
const causedBy = (robot: Robot, step: Step): boolean =>
  step.key === 'continue'
    ? step.token.startsWith('operator') && robot.safety === 'ENABLED'
    : step.key === 'release' && robot.cause === 'stopped' && step.latch.id === robot.latches[0]?.id;

/** What to do in a step whose own text says why it is needed. */
const todoOf = (t: ReturnType<typeof useWayOutTexts>, step: Step): string | undefined =>
  t.todo[step.key === 'continue' && !step.token.startsWith('operator') ? 'resume' : step.key];

/** The first step, with the button that does it. */
function Next({ step }: { step: Step }) {
  const t = useWayOutTexts();
  const todo = todoOf(t, step);
  return (
    <Stack gap={6} align="flex-start">
      <Text size="sm">
        <Text span fw={500}>
          {t.next}:{' '}
        </Text>
        {todo ?? <StepText step={step} />}
      </Text>
      <StepButton step={step} />
    </Stack>
  );
}

/** The button of a step, if it has one. A later step has why it is not possible yet, or nothing. */
function StepButton({ step, later }: { step: Step; later?: string }) {
  const t = useWayOutTexts();
  const reasons = useReasonTexts();
  const { id } = usePage();
  const navigate = useNavigate();
  const command = useWhyNot();
  const release = useWhyNot('release_stops', true);
  const administer = useWhyNot('administer');
  const look =
    later === undefined
      ? ({ h: 48, explain: true, variant: 'filled' } as const)
      : ({ mih: 44, explain: true, variant: 'default' } as const);
  const verb = (name: Verb, args: Record<string, unknown>, label: string, whyNot = '') => (
    <ActionButton {...look} whyNot={command || later || whyNot} sends={[name, args, label]}>
      {label}
    </ActionButton>
  );
  const adopting = lineOf('adopt-robot', { path: { id }, body: {} });
  switch (step.key) {
    case 'release':
      return (
        <ActionButton
          {...look}
          whyNot={release || later}
          onClick={() =>
            askRelease({
              robot: id,
              stop: step.latch,
              onReleased: (why) => noteRelease(id, step.latch.id, t.buttons.release.replace('…', ''), why),
            })
          }
        >
          {t.buttons.release}
        </ActionButton>
      );
    case 'adopt':
      return (
        <ActionButton
          {...look}
          whyNot={administer}
          line={adopting}
          onClick={() => change(id, t.buttons.adopt, () => adopt(id), adopting)}
        >
          {t.buttons.adopt}
        </ActionButton>
      );
    case 'reset':
      return verb('safety/reset', {}, t.buttons.reset);
    case 'enable':
      return verb('safety/enable', {}, t.buttons.enable);
    case 'start':
      return verb('auto/start', {}, t.buttons.start);
    case 'continue':
      return verb('auto/continue', { token: step.token }, t.buttons.continue);
    case 'mode': {
      const why = step.whyNot[0];
      return verb('mode/set', { mode: 'ato' }, t.buttons.mode, why && reasonText(reasons, why.reason, why.detail));
    }
    case 'repair':
      return step.acknowledge ? verb('sys/ack-fault', { source: step.unit }, t.buttons.repair) : null;
    case 'failing':
    case 'story':
      return (
        <ActionButton {...look} onClick={() => navigate(`/robots/${encodeURIComponent(id)}/story`)}>
          {t.buttons.story}
        </ActionButton>
      );
    default:
      return null;
  }
}

async function adopt(id: string): Promise<undefined> {
  await api.POST('/api/v1/robots/{id}/adopt', { params: { path: { id }, header: { Prefer: 'wait=5' } }, body: {} });
}
