import { Text } from '@mantine/core';
import type { ReactNode } from 'react';

import { OwnSentence } from './OwnSentence';

/** A text in the page's language with the robot's own sentence below it, if it has one. */
export function withOwn(text: string, own: string): ReactNode {
  if (!text || !own) return text;
  return (
    <Text size="sm" component="div" dir="auto">
      {text}
      <OwnSentence>{own}</OwnSentence>
    </Text>
  );
}
