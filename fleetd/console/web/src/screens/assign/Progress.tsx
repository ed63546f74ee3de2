import { Alert, Anchor, Button, Card, Group, List, Progress as Bar, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';

import { problemOf } from '../../api/problem';
import { useRobots } from '../../live/robots';
import { type Outcome, reasonsOf, type Step, stepOf, type What } from './model';
import { assign } from './request';
import { useAssignTexts } from './text';

const colors: Record<Step, string> = { has: 'green', refused: 'red', waiting: 'blue', away: 'gray' };
/** Up to this many robots of a group are named. */
const named = 20;

/** What became of an assignment, as robots report it, and the way back. */
export function Progress({ what, outcome }: { what: What; outcome: Outcome }) {
  const t = useAssignTexts();
  const fleet = useRobots();
  const [undone, setUndone] = useState<string>();
  const isStory = what.kind === 'story' || what.kind === 'back';
  const byID = new Map(fleet.map((r) => [r.id, r]));
  const robots = outcome.updated.map((id) => ({ id, robot: byID.get(id) }));
  const groups = (['has', 'waiting', 'refused', 'away'] as Step[]).map((step) => ({
    step,
    ids: robots.filter((r) => stepOf(r.robot) === step).map((r) => r.id),
  }));

  const back = async () => {
    try {
      await assign(
        { kind: 'back' },
        { ids: outcome.updated },
        { dry: false, expected: outcome.updated.length, why: '' },
      );
      setUndone(t.undone);
    } catch (thrown) {
      setUndone(problemOf(thrown).message);
    }
  };
  return (
    <Card withBorder>
      <Stack gap="sm">
        <Title order={2} size="h4">
          {t.progress}
        </Title>
        <Text role="status">{t.accepted(outcome.updated.length)}</Text>
        {!isStory && <Text size="sm">{t.reported}</Text>}
        {isStory && robots.length > 0 && (
          <>
            <Bar.Root size="lg" aria-hidden>
              {groups.map((g) => (
                <Bar.Section key={g.step} value={(100 * g.ids.length) / robots.length} color={colors[g.step]} />
              ))}
            </Bar.Root>
            <List size="sm" data-testid="progress">
              {groups
                .filter((g) => g.ids.length > 0)
                .map((g) => (
                  <List.Item key={g.step}>
                    <b>
                      {g.ids.length} {t.steps[g.step]}
                    </b>
                    :{' '}
                    {g.ids.slice(0, named).map((id) => (
                      <Anchor key={id} component={Link} to={`/robots/${id}`} size="sm" mr={6}>
                        {id}
                      </Anchor>
                    ))}
                    {g.ids.length > named ? '…' : ''}
                  </List.Item>
                ))}
            </List>
            {reasonsOf(robots.map((r) => r.robot)).map(([why, ids]) => (
              <Alert key={why} color="red" title={`${ids.length}: ${ids.slice(0, named).join(', ')}`}>
                <span dir="auto">{why}</span>
              </Alert>
            ))}
          </>
        )}
        {isStory && outcome.updated.length > 0 && (
          <Group>
            <Button variant="default" onClick={() => void back()}>
              {t.undo}
            </Button>
            {undone && <Text role="status">{undone}</Text>}
          </Group>
        )}
      </Stack>
    </Card>
  );
}
