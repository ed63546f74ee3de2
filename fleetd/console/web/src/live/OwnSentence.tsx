import { Text } from '@mantine/core';

/** What a robot says itself, in English, below the words of the page's language that stand for it. */
export function OwnSentence({ children }: { children?: string }) {
  if (!children) return null;
  return (
    <Text
      span
      display="block"
      size="xs"
      c="dimmed"
      lang="en"
      dir="auto"
      className="any-text"
      data-testid="own-sentence"
    >
      {children}
    </Text>
  );
}
