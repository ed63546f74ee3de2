import { Code, Stack, Text } from '@mantine/core';

import type { Schemas } from '../api/client';
import { useAlertWords } from '../text/alerts';
import { useCauseWords } from '../text/causes';
import { useEventWords } from '../text/events';
import { causeText, detailsText, type EventTables, eventText } from '../text/eventText';
import { texts } from '../text/language';
import { useReasonTexts } from '../text/reasons';
import { useTermWords } from '../text/terms';

const useTexts = texts(
  {
    raw: 'as JSON',
    sources: {
      act: 'act',
      auto: 'story',
      control: 'control',
      life: 'autonomous life',
      link: 'connection',
      mode: 'mode',
      robot: 'robot',
      safety: 'safety',
    } as Record<string, string>,
  },
  {
    raw: 'als JSON',
    sources: {
      act: 'Akt',
      auto: 'Geschichte',
      control: 'Kontrolle',
      life: 'Eigenleben',
      link: 'Verbindung',
      mode: 'Modus',
      robot: 'Roboter',
      safety: 'Sicherheit',
    },
  },
  {
    raw: 'en JSON',
    sources: {
      act: 'acte',
      auto: 'histoire',
      control: 'contrôle',
      life: 'vie autonome',
      link: 'connexion',
      mode: 'mode',
      robot: 'robot',
      safety: 'sécurité',
    },
  },
);

type Event = Schemas['Event'];

/** The tables of words that describe events, in the language of the console. */
export function useEventTables(): EventTables {
  const terms = useTermWords();
  return {
    events: useEventWords(),
    reasons: useReasonTexts(),
    alerts: useAlertWords(),
    causes: useCauseWords(),
    states: {
      auto: terms.AutoStatus,
      safety: terms.SafetyState,
      mode: terms.ModeID,
      life: terms.LifeState,
      link: terms.LinkState,
    },
  };
}

/** What happened. */
export function EventWhat({ of: e, level }: { of: Event; level?: boolean }) {
  const t = useEventTables();
  const { EventLevel: levels } = useTermWords();
  return (
    <Stack gap={0} align="flex-start">
      <Text size="sm" fw={500} title={e.type} className="any-text">
        {eventText(t.events, e)}
      </Text>
      {level && e.level && e.level !== 'info' && (
        <Text size="xs" c="dimmed" fw={500}>
          {levels[e.level as keyof typeof levels] ?? e.level}
        </Text>
      )}
    </Stack>
  );
}

/** The part of the robot that an event is from, and why it happened. */
export function EventFrom({ of: e }: { of: Event }) {
  const { sources } = useTexts();
  const t = useEventTables();
  return (
    <Text size="sm" dir="auto" className="any-text">
      {[sources[e.source] ?? e.source, causeText(t, e)].filter(Boolean).join(': ')}
    </Text>
  );
}

/** The details of an event in words; the event as the robot sent it, with its codes, opens below them. */
export function EventDetails({ of: e }: { of: Event }) {
  const t = useTexts();
  const tables = useEventTables();
  const { type, source, cause, req_id, data } = e;
  return (
    <>
      <Text size="sm" dir="auto" className="any-text">
        {detailsText(tables, e)}
      </Text>
      <details className="raw">
        <summary>{t.raw}</summary>
        <Code block dir="ltr">
          {JSON.stringify({ type, source, cause, req_id, data }, null, 2)}
        </Code>
      </details>
    </>
  );
}
