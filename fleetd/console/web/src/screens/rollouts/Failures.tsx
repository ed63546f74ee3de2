import { Anchor, Button, Card, Group, Stack, Text, Title } from '@mantine/core';
import { Link } from 'react-router';

import { useFieldWord } from '../editor/fields/words';
import { refusalText } from '../assign/refusal';
import { useAssignTexts } from '../assign/text';
import type { Detail, RobotState } from './types';
import { Swatch } from './RobotBar';
import { useRolloutsTexts } from './text';
import { useWhyText } from './whyText';

/** Failed robots by reason, with a robot's own sentence. */
export function Failures({ of: d, onShow }: { of: Detail; onShow: (s: RobotState) => void }) {
  const t = useRolloutsTexts();
  const word = useFieldWord();
  const { actionNumber } = useAssignTexts();
  const because = useWhyText();
  return (
    <Card withBorder component="section" aria-label={t.failures}>
      <Stack gap="sm">
        <Title order={2} size="h4">
          {t.failures}
        </Title>
        {d.failures.length === 0 && (
          <Text size="sm" c="dimmed">
            {t.noFailures}
          </Text>
        )}
        {d.failures.map((f) => (
          <Stack key={f.reason + f.state} gap={4} data-testid="failure">
            <Group gap="xs">
              <Swatch part="failed" />
              <Text size="sm" fw={500}>
                {t.failed(f.count)} {t.robotStates[f.state as RobotState] ?? f.state}
              </Text>
              <Text size="xs" c="dimmed">
                {f.reason}
              </Text>
            </Group>
            {f.detail && (
              <Text size="sm" dir="auto" className="any-text">
                {refusalText(because(f.detail), word, actionNumber)}
              </Text>
            )}
            <Group gap="xs">
              <RobotLinks ids={f.robots} />
              {f.count > f.robots.length && (
                <Button size="compact-xs" variant="default" onClick={() => onShow(f.state as RobotState)}>
                  {t.showFailed}
                </Button>
              )}
            </Group>
          </Stack>
        ))}
      </Stack>
    </Card>
  );
}

/** Names of robots that lead to their pages. */
export function RobotLinks({ ids }: { ids: readonly string[] }) {
  return ids.map((id) => (
    <Anchor key={id} component={Link} to={`/robots/${encodeURIComponent(id)}`} size="sm" dir="auto" td="underline">
      {id}
    </Anchor>
  ));
}
