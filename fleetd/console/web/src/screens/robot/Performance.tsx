import { Group, Progress, Stack, Text } from '@mantine/core';

import { doesText, usePerformingTexts } from '../../live/PerformingBadge';
import { obeysAnother } from '../../live/report';
import { withOwn } from '../../live/withOwn';
import { inWords, useTermWords } from '../../text/terms';
import { useVerbWords } from '../../text/verbs';
import { texts } from '../../text/language';
import { usePauseWords } from '../../text/pauses';
import { ownReason, reasonText, useReasonTexts, whyText } from '../../text/reasons';
import { clock, duration } from '../../text/time';
import { useNameOf } from '../library/api';
import { useActing } from './acting';
import { ActionButton, useWhyNot } from './ActionButton';
import { Facts, Nothing, Panel } from './Panel';
import { usePage } from './page';
import { StoryButtons } from './StoryButtons';
import { wayOut } from './wayOut';
import { useWayOutTexts, whyNotContinue } from './wayOutText';
import { useRobotTexts } from './text';

const useTexts = texts(
  {
    title: 'Performance',
    status: 'Status',
    why: 'Why',
    story: 'Story',
    act: 'Act',
    of: (n: number, all: number) => `${n} of ${all}`,
    round: 'Round',
    noStory: 'no story',
    newer: (rev: number, phase: string) => `revision ${rev} is desired: ${phase}`,
    noneDesired: (phase: string) => `no story is desired: ${phase}`,
    cursor: (at: string, length: string) => `${at} of about ${length}`,
    pauses: 'Pauses',
    noPauses: 'Nobody has paused it.',
    holder: (who: string, at: string, why: string) => `${who}, since ${at}${why ? `: ${why}` : ''}`,
    continueOne: 'Continue this one',
    continueLabel: (token: string) => `continue ${token}`,
    ownEnd: 'it ends by itself, with the interrupt or the activity',
    queue: 'Acts that wait',
    failed: 'Acts that failed',
    running: 'Commands that it carries out',
  },
  {
    title: 'Aufführung',
    status: 'Zustand',
    why: 'Warum',
    story: 'Geschichte',
    act: 'Akt',
    of: (n: number, all: number) => `${n} von ${all}`,
    round: 'Runde',
    noStory: 'keine Geschichte',
    newer: (rev: number, phase: string) => `Revision ${rev} ist verlangt: ${phase}`,
    noneDesired: (phase: string) => `keine Geschichte ist verlangt: ${phase}`,
    cursor: (at: string, length: string) => `${at} von etwa ${length}`,
    pauses: 'Pausen',
    noPauses: 'Niemand hat ihn pausiert.',
    holder: (who: string, at: string, why: string) => `${who}, seit ${at}${why ? `: ${why}` : ''}`,
    continueOne: 'Diese beenden',
    continueLabel: (token: string) => `weiter: ${token}`,
    ownEnd: 'sie endet von selbst, mit der Unterbrechung oder der Aktivität',
    queue: 'Akte, die warten',
    failed: 'Akte, die fehlschlugen',
    running: 'Befehle, die er ausführt',
  },
  {
    title: 'Représentation',
    status: 'État',
    why: 'Pourquoi',
    story: 'Histoire',
    act: 'Acte',
    of: (n, all) => `${n} sur ${all}`,
    round: 'Tour',
    noStory: 'pas d’histoire',
    newer: (rev, phase) => `la révision ${rev} est voulue : ${phase}`,
    noneDesired: (phase) => `aucune histoire n’est voulue : ${phase}`,
    cursor: (at, length) => `${at} sur ${length} environ`,
    pauses: 'Pauses',
    noPauses: 'Personne ne l’a mise en pause.',
    holder: (who, at, why) => `${who}, depuis ${at}${why ? ` : ${why}` : ''}`,
    continueOne: 'Continuer celle-ci',
    continueLabel: (token) => `continuer ${token}`,
    ownEnd: 'elle finit d’elle-même, avec l’interruption ou l’activité',
    queue: 'Actes qui attendent',
    failed: 'Actes qui ont échoué',
    running: 'Commandes qu’il exécute',
  },
);

/** What is performed, by whom it is paused, and what was requested beside what is reported. */
export function Performance() {
  const t = useTexts();
  const common = useRobotTexts();
  const reasons = useReasonTexts();
  const terms = useTermWords();
  const verbs = useVerbWords();
  const does = usePerformingTexts();
  const { robot, detail } = usePage();
  const { span, ms, spans } = useActing();
  const s = detail?.state;
  const name = useNameOf('story');
  const act = useNameOf('act');
  const ref = (r?: { id: string; rev: number }) => (r ? common.revision(name(r.id), r.id, r.rev) : t.noStory);
  const phase = [
    !obeysAnother(robot.desired) && inWords(terms.DeployPhase, robot.desired.phase),
    reasonText(reasons, robot.desired.reason, obeysAnother(robot.desired) ? '' : robot.desired.detail),
  ]
    .filter(Boolean)
    .join(', ');
  const own = obeysAnother(robot.desired) ? '' : ownReason(reasons, robot.desired.reason, robot.desired.detail);
  const length = span ? span.end_ms - span.start_ms : 0;
  return (
    <Panel
      title={t.title}
      aside={
        <Text size="sm" fw={500}>
          {robot.failed_rounds ? doesText(does, robot) : inWords(terms.AutoStatus, robot.auto)}
        </Text>
      }
    >
      <Facts
        rows={[
          [t.why, reasonText(reasons, robot.auto_reason)],
          [`${t.story}: ${common.requested}`, ref(robot.desired.story)],
          [`${t.story}: ${common.reported}`, ref(robot.story ?? robot.desired.active)],
          [
            '',
            !robot.desired.converged &&
              withOwn(robot.desired.story ? t.newer(robot.desired.story.rev, phase) : t.noneDesired(phase), own),
          ],
          [
            t.act,
            robot.act &&
              `${act(robot.act)}${spans.length ? ` (${t.of((robot.act_index ?? 0) + 1, spans.length)})` : ''}`,
          ],
          [t.round, s && s.auto.status !== 'halt' && s.auto.story ? String(s.auto.loop + 1) : ''],
          [t.queue, s?.queue.waiting.map(act).join(', ') ?? ''],
          [
            t.failed,
            withOwn(
              s?.queue.failed.map((f) => `${act(f.act)}: ${reasonText(reasons, f.reason, f.detail)}`).join('; ') ?? '',
              s?.queue.failed.map((f) => ownReason(reasons, f.reason, f.detail)).join('; ') ?? '',
            ),
          ],
          [t.running, s?.running?.map((r) => `${inWords(verbs, r.verb)}, ${r.client}`).join('; ') ?? ''],
        ]}
      />
      {ms !== undefined && length > 0 && (
        <Stack gap={2}>
          <Progress value={Math.min(100, (ms / length) * 100)} aria-label={t.act} />
          <Text size="xs" c="dimmed" data-testid="cursor">
            {t.cursor(duration(ms), duration(length))}
          </Text>
        </Stack>
      )}
      <Pauses />
      <StoryButtons />
    </Panel>
  );
}

function Pauses() {
  const t = useTexts();
  const reasons: Record<string, string> = useReasonTexts();
  const kinds = usePauseWords();
  const { robot, detail } = usePage();
  const whyNot = useWhyNot();
  const way = useWayOutTexts();
  const steps = wayOut(robot, detail);
  return (
    <Stack gap={4}>
      <Text size="sm" fw={500}>
        {t.pauses} ({robot.pause_holders.length})
      </Text>
      {robot.pause_holders.length === 0 && <Nothing>{t.noPauses}</Nothing>}
      {robot.pause_holders.map((p) => {
        const kind = p.token.split(':')[0]!;
        const own = kind === 'interrupt' || kind === 'activity';
        return (
          <Group key={p.token} gap="xs" wrap="wrap" justify="space-between">
            <Stack gap={0}>
              <Text size="sm" dir="auto" title={p.token}>
                {t.holder(
                  [inWords(kinds, kind), p.by].filter(Boolean).join(': '),
                  clock(p.since),
                  whyText(reasons, p.why ?? ''),
                )}
              </Text>
            </Stack>
            <ActionButton
              size="compact-md"
              whyNot={whyNot || (own ? t.ownEnd : whyNotContinue(way, steps, p.token))}
              sends={['auto/continue', { token: p.token }, t.continueLabel(p.token)]}
            >
              {t.continueOne}
            </ActionButton>
          </Group>
        );
      })}
    </Stack>
  );
}
