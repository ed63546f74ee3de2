import { Code, Stack, Text } from '@mantine/core';

import type { Schemas } from '../api/client';
import { useAlertWords } from '../text/alerts';
import { useCauseWords } from '../text/causes';
import { useEventWords } from '../text/events';
import { causeText, detailsText, type EventTables, eventText } from '../text/eventText';
import { texts } from '../text/language';
import { useReasonTexts } from '../text/reasons';
import { useTermWords } from '../text/terms';

const useTexts = texts({ raw: 'as JSON' }, { raw: 'als JSON' });

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

/** What happened, with the type for those who look it up. */
export function EventWhat({ of: e, level }: { of: Event; level?: boolean }) {
  const t = useEventTables();
  const { EventLevel: levels } = useTermWords();
  return (
    <Stack gap={0} align="flex-start">
      <Text size="sm" fw={600}>
        {eventText(t.events, e)}
      </Text>
      <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {e.type}
        {level && e.level && e.level !== 'info' && (
          <Text span size="xs" fw={600}>
            {' '}
            {levels[e.level as keyof typeof levels] ?? e.level}
          </Text>
        )}
      </Text>
    </Stack>
  );
}

/** The part of the robot that an event is from, why it happened, and the command that it belongs to. */
export function EventFrom({ of: e }: { of: Event }) {
  const t = useEventTables();
  return (
    <>
      <Text size="sm" dir="auto">
        {[e.source, causeText(t, e)].filter(Boolean).join(': ')}
      </Text>
      {e.req_id && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {e.req_id}
        </Text>
      )}
    </>
  );
}

/** The details of an event in words; the document of the robot opens below them. */
export function EventDetails({ of: e }: { of: Event }) {
  const t = useTexts();
  const tables = useEventTables();
  const words = detailsText(tables, e);
  if (!words) return null;
  return (
    <>
      <Text size="sm" dir="auto" style={{ overflowWrap: 'anywhere' }}>
        {words}
      </Text>
      <details className="raw">
        <summary>{t.raw}</summary>
        <Code block dir="ltr">
          {JSON.stringify(e.data, null, 2)}
        </Code>
      </details>
    </>
  );
}
