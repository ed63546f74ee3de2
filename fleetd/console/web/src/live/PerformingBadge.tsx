import { Badge, type BadgeProps, type MantineSize, Text, Tooltip } from '@mantine/core';
import { IconAlertTriangle, IconClock, IconHandStop, IconPlayerPlay, IconPlugConnectedX } from '@tabler/icons-react';

import { Link } from 'react-router';

import type { Robot } from '../api/client';
import { alertSays, useAlertWords } from '../text/alerts';
import { whoText } from '../text/triggers';
import { texts } from '../text/language';
import { useReasonTexts, whyText } from '../text/reasons';
import { sourceText } from '../text/source';
import { inWords, useMarkWords, usePresenceWords, useTermWords, withTerm } from '../text/terms';
import { useNameOf, useNamesIn } from './entries';
import { performing, type Performing, type Term, type Tone, waitsForContinue } from './performing';

export const usePerformingTexts = texts(
  {
    performing: 'performing',
    failing: 'failing: no act succeeds',
    failingRounds: (n: number) => (n === 1 ? 'failing: no act succeeds' : `failing: ${n} rounds in a row`),
    activity: 'performing an activity',
    interrupt: 'reacting to something',
    paused: 'paused',
    paused_by_safety: 'paused by safety',
    pausedToContinue: 'paused: waiting for Continue',
    released: 'its stop was released',
    story_ended: 'its story has ended',
    no_story: 'has no story',
    manual: 'in manual mode',
    undriven: 'in manual mode, nobody drives it',
    start_up: 'starting up',
    safe_mode: 'in safe mode, waits for an operator',
    other_mode: 'in another mode',
    switching: 'changing its mode',
    disabled: 'kept stopped',
    waiting_for_release: 'stopped: waiting for release',
    needs_reset: 'stopped: needs a reset',
    stop_input: 'stop input pressed at the robot',
    braking: 'stopping',
    resetting: 'clearing faults',
    not_reported: 'has not reported yet',
    not_connected: 'not connected',
    asleep: 'asleep',
    not_adopted: 'not part of the fleet yet',
  },
  {
    performing: 'tritt auf',
    failing: 'scheitert: kein Akt gelingt',
    failingRounds: (n: number) => (n === 1 ? 'scheitert: kein Akt gelingt' : `scheitert: ${n} Runden in Folge`),
    activity: 'führt eine Aktivität auf',
    interrupt: 'reagiert auf etwas',
    paused: 'Pause',
    paused_by_safety: 'Pause durch die Sicherheit',
    pausedToContinue: 'Pause: wartet auf „Weiter“',
    released: 'sein Stopp wurde aufgehoben',
    story_ended: 'seine Geschichte ist zu Ende',
    no_story: 'hat keine Geschichte',
    manual: 'im Handbetrieb',
    undriven: 'im Handbetrieb, niemand fährt ihn',
    start_up: 'fährt hoch',
    safe_mode: 'im sicheren Modus, wartet auf eine Bedienperson',
    other_mode: 'in einem anderen Modus',
    switching: 'wechselt den Modus',
    disabled: 'bleibt stehen',
    waiting_for_release: 'gestoppt: der Stopp ist nicht aufgehoben',
    needs_reset: 'gestoppt: braucht ein Zurücksetzen',
    stop_input: 'Stopp-Eingang am Roboter gedrückt',
    braking: 'hält an',
    resetting: 'löscht Fehler',
    not_reported: 'hat noch nichts gemeldet',
    not_connected: 'nicht verbunden',
    asleep: 'schläft',
    not_adopted: 'gehört noch nicht zur Flotte',
  },
  {
    performing: 'joue',
    failing: 'échoue : aucun acte ne réussit',
    failingRounds: (n) => (n === 1 ? 'échoue : aucun acte ne réussit' : `échoue : ${n} tours de suite`),
    activity: 'joue une activité',
    interrupt: 'réagit à quelque chose',
    paused: 'en pause',
    paused_by_safety: 'en pause par sécurité',
    pausedToContinue: 'en pause : attend « Continuer »',
    released: 'son arrêt a été levé',
    story_ended: 'son histoire est finie',
    no_story: 'n’a pas d’histoire',
    manual: 'en manuel',
    undriven: 'en manuel, personne ne le conduit',
    start_up: 'démarre',
    safe_mode: 'en mode sûr, attend un opérateur',
    other_mode: 'dans un autre mode',
    switching: 'change de mode',
    disabled: 'maintenu à l’arrêt',
    waiting_for_release: 'arrêté : attend la levée de l’arrêt',
    needs_reset: 'arrêté : à réinitialiser',
    stop_input: 'entrée d’arrêt enfoncée sur le robot',
    braking: 's’arrête',
    resetting: 'efface ses erreurs',
    not_reported: 'n’a encore rien signalé',
    not_connected: 'non connecté',
    asleep: 'en veille',
    not_adopted: 'pas encore dans la flotte',
  },
);

export const toneColor: Record<Tone, string> = {
  good: 'green',
  waiting: 'blue',
  attention: 'yellow',
  stopped: 'red',
  away: 'gray',
};

const icons: Record<Tone, typeof IconClock> = {
  good: IconPlayerPlay,
  waiting: IconClock,
  attention: IconAlertTriangle,
  stopped: IconHandStop,
  away: IconPlugConnectedX,
};

/** What a robot does, in words. */
export function doesText(t: ReturnType<typeof usePerformingTexts>, r: Robot): string {
  if (r.doing === 'failing') return t.failingRounds(r.failed_rounds ?? 1);
  return waitsForContinue(r) ? t.pausedToContinue : t[r.doing];
}

/** A function that says in words what it is about. */
export function useAbout(): (of: Performing['of']) => string {
  const { released } = usePerformingTexts();
  const reasons: Record<string, string> = { ...useReasonTexts(), stop_released: released };
  const alerts = useAlertWords();
  const named = useNamesIn();
  const story = useNameOf('story');
  const act = useNameOf('act');
  return (of) => {
    if (typeof of !== 'object') return of ?? '';
    if ('by' in of) return sourceText(of.by);
    if ('alert' in of) return alertSays(alerts, { ...named(of.alert), hint: undefined });
    if ('handler' in of) return `${of.handler} (${whoText(of.interrupter)})`;
    if ('reason' in of) return whyText(reasons, of.reason, of.reason.replaceAll('_', ' '));
    return [of.story && story(of.story), of.act && act(of.act)].filter(Boolean).join(', ');
  };
}

/** A function that says the contract's terms in words; for tooltips with each term beside its words. */
export function useTermsText(say = withTerm): (p: Performing) => string {
  const words: Record<Term[0], Record<string, string>> = {
    ...useTermWords(),
    presence: usePresenceWords(),
    mark: useMarkWords(),
  };
  return ({ terms }) => terms.map(([table, code]) => say(words[table], code)).join(', ');
}

interface Props {
  robot: Robot;
  of?: Performing;
  /** Says its state in more words beside it. */
  terms?: boolean;
  /** Leads to the page of the robot. */
  link?: boolean;
  size?: MantineSize;
}

/** What a robot does, in words and with a symbol: colour alone says nothing. */
export function PerformingBadge({ robot, of: given, terms, link, size }: Props) {
  const t = usePerformingTexts();
  const p = given ?? performing(robot);
  const term = useTermsText()(p);
  const words = useTermsText(inWords)(p);
  const Icon = icons[p.tone];
  const look: BadgeProps = {
    size,
    color: toneColor[p.tone],
    variant: 'light',
    leftSection: <Icon size={size === 'xl' ? 18 : 12} aria-hidden />,
    tt: 'none',
    fw: 500,
  };
  return (
    <Tooltip label={term} openDelay={300}>
      <span className="badge-line">
        {link ? (
          <Badge component={Link} to={`/robots/${encodeURIComponent(robot.id)}`} className="badge-link" {...look}>
            {doesText(t, robot)}
          </Badge>
        ) : (
          <Badge {...look}>{doesText(t, robot)}</Badge>
        )}
        {terms && words !== doesText(t, robot) && (
          <Text span size="xs" c="dimmed">
            {words}
          </Text>
        )}
      </span>
    </Tooltip>
  );
}
