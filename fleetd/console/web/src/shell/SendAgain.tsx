import { Button, Stack, Text } from '@mantine/core';

/** What to do about a stop that was not sent: a text, and the button that sends it once more. */
export function SendAgain({ text, label, again }: { text: string; label: string; again: () => void }) {
  return (
    <Stack gap={6} align="flex-start">
      <Text size="sm">{text}</Text>
      <Button size="compact-sm" color="red.9" onClick={again}>
        {label}
      </Button>
    </Stack>
  );
}
