import { Anchor, Stack, Text } from '@mantine/core';
import { Link } from 'react-router';

import type { Robot, Schemas } from '../api/client';
import { alertMeans, alertTitle, type AlertWords, useAlertWords } from '../text/alerts';
import { inButtons } from '../text/buttons';
import { texts } from '../text/language';
import { useTermWords } from '../text/terms';
import { dateTime } from '../text/time';
import { useNamesIn } from './entries';

const useTexts = texts(
  {
    wayOut: 'What to do',
    says: 'The robot reports',
    rolloutSays: 'The rollout says',
    rollout: (id: string) => `rollout ${id}`,
    fleetdSays: 'fleetd says',
    schedule: (id: string) => `schedule ${id}`,
    fleetd: 'fleetd',
    since: (at: string) => `since ${at}`,
  },
  {
    wayOut: 'Was zu tun ist',
    says: 'Der Roboter meldet',
    rolloutSays: 'Der Rollout sagt',
    rollout: (id: string) => `Rollout ${id}`,
    fleetdSays: 'fleetd sagt',
    schedule: (id: string) => `Zeitplan ${id}`,
    fleetd: 'fleetd',
    since: (at: string) => `seit ${at}`,
  },
  {
    wayOut: 'Que faire',
    says: 'Le robot signale',
    rolloutSays: 'Le déploiement dit',
    rollout: (id) => `déploiement ${id}`,
    fleetdSays: 'fleetd dit',
    schedule: (id) => `horaire ${id}`,
    fleetd: 'fleetd',
    since: (at) => `depuis ${at}`,
  },
);

type RobotAlert = Robot['alerts'][number];

export const alertColor: Record<string, string> = { info: 'blue', warn: 'yellow', error: 'orange', critical: 'red' };

/** A function that names a type of alerts, such as "battery low". */
export function useAlertTitle(): (type: string) => string {
  const words: Record<string, AlertWords> = useAlertWords();
  return (type) => alertTitle(words, type);
}

/** A function that names an alert with its level, such as "warning: battery low". */
export function useAlertName(): (a: Pick<RobotAlert, 'type' | 'level'>) => string {
  const title = useAlertTitle();
  const levels: Record<string, string> = useTermWords().AlertLevel;
  return (a) => `${levels[a.level] ?? a.level}: ${title(a.type)}`;
}

/** A link to the robot, the rollout or the schedule whose alert it is; to the state of fleetd, if it is of none. */
export function AlertSubject({ of: a }: { of: Pick<Schemas['RobotAlert'], 'robot' | 'rollout' | 'schedule'> }) {
  const t = useTexts();
  const to = a.rollout
    ? `/rollouts/${a.rollout}`
    : a.schedule
      ? `/schedules/${encodeURIComponent(a.schedule)}`
      : a.robot
        ? `/robots/${encodeURIComponent(a.robot)}`
        : '/admin?tab=health';
  return (
    <Anchor component={Link} to={to} c="inherit" fw={500} size="sm" td="underline">
      {a.rollout ? t.rollout(a.rollout) : a.schedule ? t.schedule(a.schedule) : a.robot || t.fleetd}
    </Anchor>
  );
}

/** What an alert means, what ends it, and what the robot says of this case. One with an empty robot is of fleetd. */
export function AlertText({ of: a }: { of: RobotAlert & { robot?: string; rollout?: string; schedule?: string } }) {
  const t = useTexts();
  const all: Record<string, AlertWords> = useAlertWords();
  const named = useNamesIn();
  const words = all[a.type];
  return (
    <Stack gap={2}>
      {words && (
        <Text size="sm" dir="auto">
          {alertMeans(all, named(a))}
        </Text>
      )}
      {words && (
        <Text size="sm">
          <Text span inherit fw={500}>
            {t.wayOut}:{' '}
          </Text>
          {words.wayOut}
        </Text>
      )}
      <Text size="sm" dir="auto" className="any-text">
        <Text span inherit fw={500}>
          {a.rollout ? t.rolloutSays : a.schedule || a.robot === '' ? t.fleetdSays : t.says}:{' '}
        </Text>
        <span lang="en">{inButtons([a.detail, a.hint].filter(Boolean).join('; '))}</span>
      </Text>
      <Text size="xs" c="dimmed" className="any-text" title={`${a.type} (${a.source})`}>
        {t.since(dateTime(a.first_ts))}
      </Text>
    </Stack>
  );
}
