import { Alert, Group, List, Stack, Text, Title } from '@mantine/core';
import { IconArrowRight, IconCircleCheck } from '@tabler/icons-react';
import { useState } from 'react';
import { useNavigate } from 'react-router';

import { api } from '../../api/client';
import { lineOf } from '../../api/lines';
import { performing } from '../../live/performing';
import { toneColor, usePerformingTexts } from '../../live/PerformingBadge';
import { texts } from '../../text/language';
import { ago, clock } from '../../text/time';
import { Do, useSend, useWhyNot } from './Do';
import { useFleetdNow, usePage } from './page';
import { ReleaseDialog } from './ReleaseDialog';
import { change } from './sending';
import { reasonText, useReasonTexts } from './text';
import { type Step, wayOut } from './wayOut';

const useTexts = texts(
  {
    performs: 'It performs.',
    title: (what: string) => `It does not perform – ${what}`,
    because: 'Cause',
    next: 'Next',
    then: 'Then',
    steps: {
      connect: 'Bring it back: check its power and its network.',
      adopt: 'It is not part of this fleet yet.',
      report: 'It has not reported its state yet. This takes a few seconds after it connected.',
      stopInput: 'A stop input at the robot is pressed. Go to the robot, look why, and unlock it there.',
      wait: 'It is stopping. This takes a moment.',
      reset: 'It was switched off. A reset clears its units; it does not move yet.',
      enable: 'It may not move. Look that nobody is in its way, then enable it: it may move at once.',
      story: 'It has no story to perform.',
      start: 'Its story has ended or was stopped.',
      release: (who: string, at: string, why: string) => `${who} stopped it at ${at}${why ? `: ${why}` : ''}.`,
      repair: (unit: string, fault: string) => `${unit}: ${fault}. It keeps the robot at rest until it is repaired.`,
      mode: (mode: string) => `It is ${mode}; it performs in automatic (ato).`,
      continue: (who: string, why: string) => `${who} paused it${why ? `: ${why}` : ''}.`,
    },
    doing: {
      adopt: 'Add to the fleet',
      reset: 'Reset',
      enable: 'Enable',
      story: 'Choose a story',
      start: 'Start the story',
      release: 'Release…',
      repair: 'It is repaired',
      mode: 'Switch to automatic',
      continue: 'Continue',
    },
    somebody: 'somebody',
    somethingPaused: 'a fault or stop that is over',
    lastSeen: (since: string) => `Last seen ${since}.`,
    otherMode: (term: string) => `mode ${term || '?'}`,
  },
  {
    performs: 'Er tritt auf.',
    title: (what: string) => `Er tritt nicht auf – ${what}`,
    because: 'Ursache',
    next: 'Jetzt',
    then: 'Danach',
    steps: {
      connect: 'Bringen Sie ihn zurück: prüfen Sie Strom und Netz.',
      adopt: 'Er gehört noch nicht zu dieser Flotte.',
      report: 'Er hat seinen Zustand noch nicht gemeldet. Das dauert nach dem Verbinden einige Sekunden.',
      stopInput:
        'Ein Stopp-Eingang am Roboter ist gedrückt. Gehen Sie hin, sehen Sie nach, warum, und entriegeln Sie ihn dort.',
      wait: 'Er hält an. Das dauert einen Augenblick.',
      reset: 'Er wurde abgeschaltet. Das Zurücksetzen löscht die Fehler; er bewegt sich noch nicht.',
      enable:
        'Er darf sich nicht bewegen. Sehen Sie nach, dass niemand im Weg ist, und geben Sie die Bewegung frei: er kann sofort losfahren.',
      story: 'Er hat keine Geschichte.',
      start: 'Seine Geschichte ist zu Ende oder wurde beendet.',
      release: (who: string, at: string, why: string) => `${who} hat ihn um ${at} gestoppt${why ? `: ${why}` : ''}.`,
      repair: (unit: string, fault: string) => `${unit}: ${fault}. Der Roboter ruht, bis das behoben ist.`,
      mode: (mode: string) => `Er ist: ${mode}; er tritt in der Automatik (ato) auf.`,
      continue: (who: string, why: string) => `Pause durch ${who}${why ? `: ${why}` : ''}.`,
    },
    doing: {
      adopt: 'In die Flotte aufnehmen',
      reset: 'Zurücksetzen',
      enable: 'Bewegung freigeben',
      story: 'Geschichte wählen',
      start: 'Geschichte starten',
      release: 'Freigeben…',
      repair: 'Es ist behoben',
      mode: 'In die Automatik',
      continue: 'Weiter',
    },
    somebody: 'jemand',
    somethingPaused: 'eine Störung oder ein Stopp, die vorbei sind',
    lastSeen: (since: string) => `Zuletzt gesehen ${since}.`,
    otherMode: (term: string) => `Modus ${term || '?'}`,
  },
);

/** Why the robot does not perform, what to do next, and what comes after it. */
export function WayOut() {
  const t = useTexts();
  const words = usePerformingTexts();
  const { robot, detail } = usePage();
  const steps = wayOut(robot, detail);
  const p = performing(robot);
  if (steps.length === 0) {
    if (p.tone !== 'good') return null;
    return (
      <Group gap={6} role="status" data-testid="way-out">
        <IconCircleCheck size={20} color="var(--mantine-color-green-6)" aria-hidden />
        <Text size="sm" dir="auto">
          {t.performs} {p.of}
        </Text>
      </Group>
    );
  }
  const [first, ...rest] = steps;
  return (
    <Alert
      color={toneColor[p.tone]}
      variant="light"
      role="region"
      aria-label={t.title(words[p.key])}
      data-testid="way-out"
    >
      <Stack gap="sm">
        <Title order={2} size="h4" aria-live="polite">
          {t.title(words[p.key])}
        </Title>
        <Cause />
        <Next key={JSON.stringify(first)} step={first!} />
        {rest.length > 0 && (
          <Stack gap={2}>
            <Text size="sm" fw={600}>
              {t.then}
            </Text>
            <List size="sm" icon={<IconArrowRight size={14} aria-hidden />}>
              {rest.map((s) => (
                <List.Item key={JSON.stringify(s)}>
                  <StepText step={s} />
                </List.Item>
              ))}
            </List>
          </Stack>
        )}
      </Stack>
    </Alert>
  );
}

/** What the robot says about why it stopped, with the alerts that are more than a warning. */
function Cause() {
  const t = useTexts();
  const reasons = useReasonTexts();
  const { robot } = usePage();
  const grave = robot.alerts.filter((a) => a.level === 'error' || a.level === 'critical');
  if (robot.safety === 'ENABLED' || (!robot.cause && grave.length === 0)) return null;
  const cause = [reasonText(reasons, robot.cause), robot.latched_by].filter(Boolean).join(', ');
  return (
    <Stack gap={2}>
      <Text size="sm" dir="auto">
        <Text span fw={600}>
          {t.because}:{' '}
        </Text>
        {cause}
      </Text>
      {grave.map((a) => (
        <Text key={a.id} size="sm" dir="auto">
          {[a.detail, a.hint].filter(Boolean).join('; ')}
        </Text>
      ))}
    </Stack>
  );
}

function StepText({ step }: { step: Step }) {
  const t = useTexts();
  const words = usePerformingTexts();
  const { robot } = usePage();
  const now = useFleetdNow();
  switch (step.key) {
    case 'release': {
      const l = step.latch;
      return <span dir="auto">{t.steps.release(l.by || l.client || t.somebody, clock(l.since), l.why ?? '')}</span>;
    }
    case 'repair':
      return <span dir="auto">{t.steps.repair(step.unit, step.fault)}</span>;
    case 'mode':
      return <span>{t.steps.mode(`${words[modeKey(robot.mode)]} (${robot.mode ?? '?'})`)}</span>;
    case 'continue':
      return <span dir="auto">{t.steps.continue(step.by || t.somethingPaused, step.why)}</span>;
    case 'connect':
      return (
        <span>
          {t.steps.connect} {robot.presence.last_seen && t.lastSeen(ago(now - Date.parse(robot.presence.last_seen)))}
        </span>
      );
    default:
      return <span>{t.steps[step.key]}</span>;
  }
}

function modeKey(mode?: string): 'manual' | 'start_up' | 'safe_mode' | 'other_mode' {
  return mode === 'mnl' ? 'manual' : mode === 'str' ? 'start_up' : mode === 'safe' ? 'safe_mode' : 'other_mode';
}

/** The first step, with the button that does it. */
function Next({ step }: { step: Step }) {
  const t = useTexts();
  return (
    <Stack gap={6} align="flex-start">
      <Text size="sm">
        <Text span fw={600}>
          {t.next}:{' '}
        </Text>
        <StepText step={step} />
      </Text>
      <Doing step={step} />
    </Stack>
  );
}

function Doing({ step }: { step: Step }) {
  const t = useTexts();
  const reasons = useReasonTexts();
  const { id } = usePage();
  const navigate = useNavigate();
  const send = useSend();
  const command = useWhyNot();
  const release = useWhyNot('release', true);
  const edit = useWhyNot('edit');
  const [releasing, setReleasing] = useState(false);
  const big = { h: 48, explain: true, variant: 'filled' } as const;
  const verb = (name: string, args: Record<string, unknown>, label: string, whyNot = '') => (
    <Do {...big} whyNot={command || whyNot} onClick={() => send(name, args, label)}>
      {label}
    </Do>
  );
  switch (step.key) {
    case 'release':
      return (
        <>
          <Do {...big} whyNot={release} onClick={() => setReleasing(true)}>
            {t.doing.release}
          </Do>
          {releasing && <ReleaseDialog latch={step.latch} onClose={() => setReleasing(false)} />}
        </>
      );
    case 'adopt':
      return (
        <Do
          {...big}
          whyNot={edit}
          onClick={() => change(id, t.doing.adopt, () => adopt(id), lineOf('adopt-robot', { path: { id }, body: {} }))}
        >
          {t.doing.adopt}
        </Do>
      );
    case 'reset':
      return verb('safety/reset', {}, t.doing.reset);
    case 'enable':
      return verb('safety/enable', {}, t.doing.enable);
    case 'start':
      return verb('auto/start', {}, t.doing.start);
    case 'continue':
      return verb('auto/continue', { token: step.token }, t.doing.continue);
    case 'mode': {
      const why = step.whyNot[0];
      return verb('mode/set', { mode: 'ato' }, t.doing.mode, why && reasonText(reasons, why.reason, why.detail));
    }
    case 'repair':
      return step.acknowledge ? verb('sys/ack-fault', { source: step.unit }, t.doing.repair) : null;
    case 'story':
      return (
        <Do {...big} onClick={() => navigate(`/robots/${encodeURIComponent(id)}/story`)}>
          {t.doing.story}
        </Do>
      );
    default:
      return null;
  }
}

async function adopt(id: string): Promise<undefined> {
  await api.POST('/api/v1/robots/{id}/adopt', { params: { path: { id }, header: { Prefer: 'wait=5' } }, body: {} });
}
