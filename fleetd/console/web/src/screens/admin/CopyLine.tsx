import { Button, Code, CopyButton, Group } from '@mantine/core';

import { useAdminTexts } from './text';

/** A line for another program, which can be copied as a whole. */
export function CopyLine({ text }: { text: string }) {
  const t = useAdminTexts();
  return (
    <Group align="flex-start">
      <Code block style={{ flex: '1 1 18rem', whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }} dir="ltr">
        {text}
      </Code>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button variant="default" onClick={copy}>
            {copied ? t.copied : t.copy}
          </Button>
        )}
      </CopyButton>
    </Group>
  );
}
