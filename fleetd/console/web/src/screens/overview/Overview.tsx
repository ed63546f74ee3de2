import { Anchor, Card, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { Link } from 'react-router';

import { performing, type Tone } from '../../live/performing';
import { toneColor } from '../../live/PerformingBadge';
import { useRobots } from '../../live/robots';
import { useScope } from '../../shell/scope';
import { texts } from '../../text/language';

const useTexts = texts(
  {
    title: 'Overview',
    tones: {
      good: 'performing',
      waiting: 'waiting',
      attention: 'need attention',
      stopped: 'stopped',
      away: 'not connected',
    },
  },
  {
    title: 'Übersicht',
    tones: {
      good: 'treten auf',
      waiting: 'warten',
      attention: 'brauchen Aufmerksamkeit',
      stopped: 'gestoppt',
      away: 'nicht verbunden',
    },
  },
);

const tones: Tone[] = ['stopped', 'attention', 'away', 'waiting', 'good'];

/** How many robots perform, and how many do not and why. */
export default function Overview() {
  const t = useTexts();
  const site = useScope((s) => s.site);
  const fleet = useRobots().filter((r) => !site || r.labels.site === site);
  return (
    <Stack>
      <Title order={1} size="h2">
        {t.title}
      </Title>
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }}>
        {tones.map((tone) => (
          <Anchor key={tone} component={Link} to={`/robots?tone=${tone}`} underline="never" c="inherit">
            <Card withBorder style={{ borderInlineStart: `4px solid var(--mantine-color-${toneColor[tone]}-6)` }}>
              <Text fz={32} fw={700}>
                {fleet.filter((r) => performing(r).tone === tone).length}
              </Text>
              <Text size="sm">{t.tones[tone]}</Text>
            </Card>
          </Anchor>
        ))}
      </SimpleGrid>
    </Stack>
  );
}
