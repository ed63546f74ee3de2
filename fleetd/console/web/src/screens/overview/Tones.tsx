import { Anchor, Card, SimpleGrid, Text } from '@mantine/core';
import { Link } from 'react-router';

import type { Tone } from '../../live/performing';
import { toneColor } from '../../live/PerformingBadge';
import type { Counts } from './counts';
import { useOverviewTexts } from './text';

const tones: Tone[] = ['stopped', 'attention', 'away', 'waiting', 'good'];

/** How many robots can perform, and how many need something first. */
export function Tones({ counts, large }: { counts: Counts; large?: boolean }) {
  const t = useOverviewTexts();
  return (
    <SimpleGrid cols={{ base: 2, xs: 5 }} spacing={{ base: 'xs', lg: 'md' }} className="tones">
      {tones
        .filter((tone) => counts.tones[tone] > 0 || tone === 'good')
        .map((tone) => (
          <Anchor key={tone} component={Link} to={`/robots?tone=${tone}`} underline="never" c="inherit">
            <Card
              withBorder
              h="100%"
              data-testid={`tone-${tone}`}
              style={{ borderInlineStart: `6px solid var(--mantine-color-${toneColor[tone]}-6)` }}
            >
              <Text
                fz={large ? { base: 40, sm: 72 } : 32}
                fw={500}
                lh={1.1}
                c={counts.tones[tone] === 0 ? 'dimmed' : undefined}
              >
                {counts.tones[tone]}
              </Text>
              <Text fz={large ? { base: 16, sm: 26 } : 14}>{t.tones[tone]}</Text>
            </Card>
          </Anchor>
        ))}
    </SimpleGrid>
  );
}
