import { Anchor, Badge, Group, Stack, Text } from '@mantine/core';
import { Link } from 'react-router';

import { CommandLine } from '../../shell/CommandLine';
import { texts } from '../../text/language';
import { clock } from '../../text/time';
import { Nothing, Panel } from './Panel';
import { usePage } from './page';
import { done, ended, useSent } from './sending';
import { useSendingTexts } from './sendingText';

const useTexts = texts(
  { title: 'What you sent from here', none: 'Nothing yet.', all: 'All commands to this robot' },
  { title: 'Was Sie von hier gesendet haben', none: 'Noch nichts.', all: 'Alle Befehle an diesen Roboter' },
  { title: 'Ce que vous avez envoyé d’ici', none: 'Rien encore.', all: 'Toutes les commandes à ce robot' },
);
const none: never[] = [];

/** What became of the commands that this tab has sent to the robot, with the reasons. */
export function Answers() {
  const t = useTexts();
  const words = useSendingTexts();
  const { id } = usePage();
  const sent = useSent((s) => s.of[id]) ?? none;
  return (
    <Panel
      title={t.title}
      aside={
        <Anchor component={Link} to={`/commands?robot=${encodeURIComponent(id)}`} size="sm">
          {t.all}
        </Anchor>
      }
    >
      {sent.length === 0 && <Nothing>{t.none}</Nothing>}
      <Stack gap={6} data-testid="answers">
        {sent.map((s) => (
          <Stack key={s.key} gap={0}>
            <Group gap="xs" wrap="wrap">
              <Text size="sm" c="dimmed">
                {clock(s.at)}
              </Text>
              <Text size="sm" fw={500} dir="auto">
                {s.label}
              </Text>
              <Badge variant="light" tt="none" color={!ended(s) ? 'blue' : done(s) ? 'green' : 'red'}>
                {words.states[s.state as keyof typeof words.states] ?? s.state}
              </Badge>
              <Text size="xs" c="dimmed">
                {[s.verb, s.state].filter(Boolean).join(', ')}
              </Text>
              {s.line && <CommandLine compact lines={[s.line]} />}
            </Group>
            {s.because && (
              <Text size="sm" dir="auto" title={s.own}>
                {s.because}
              </Text>
            )}
          </Stack>
        ))}
      </Stack>
    </Panel>
  );
}
