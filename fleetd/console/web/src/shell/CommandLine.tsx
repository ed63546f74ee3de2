import { Button, Code, CopyButton, Group, Popover, Stack, Text } from '@mantine/core';
import { IconTerminal2 } from '@tabler/icons-react';
import { useState } from 'react';

import { texts } from '../text/language';

const useTexts = texts(
  {
    open: 'Command line',
    help: 'The same on a terminal:',
    copy: 'Copy',
    copied: 'Copied',
  },
  {
    open: 'Befehlszeile',
    help: 'Dasselbe in einem Terminal:',
    copy: 'Kopieren',
    copied: 'Kopiert',
  },
);

/** Shows the line of the command line that does the same. It can also be selected: browsers copy over HTTPS only. */
export function CommandLine({ lines, compact }: { lines: string[]; compact?: boolean }) {
  const t = useTexts();
  const [opened, setOpened] = useState(false);
  const text = lines.join('\n');
  // Escape closes this line and not the dialog around it, also before the focus is in the line.
  return (
    <Popover
      opened={opened}
      onChange={setOpened}
      width={420}
      position="bottom-end"
      withArrow
      shadow="md"
      trapFocus
      returnFocus
    >
      <Popover.Target>
        <Button
          type="button"
          variant="subtle"
          size={compact ? 'compact-sm' : 'sm'}
          leftSection={<IconTerminal2 size={16} aria-hidden />}
          data-mantine-stop-propagation={opened || undefined}
          onClick={() => setOpened(!opened)}
          onKeyDown={(e) => {
            if (opened && e.key === 'Escape') setOpened(false);
          }}
        >
          {t.open}
        </Button>
      </Popover.Target>
      <Popover.Dropdown maw="95vw" aria-label={t.open}>
        <Stack gap="xs">
          <Text size="sm">{t.help}</Text>
          <Code
            block
            dir="ltr"
            data-testid="command-line"
            style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere', maxHeight: 240, overflowY: 'auto' }}
          >
            {text}
          </Code>
          <Group justify="flex-end">
            <CopyButton value={text}>
              {({ copied, copy }) => (
                <Button size="compact-sm" variant="default" data-mantine-stop-propagation="true" onClick={copy}>
                  {copied ? t.copied : t.copy}
                </Button>
              )}
            </CopyButton>
          </Group>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

/** ms of hovering after which a line is shown. */
export const hintDelay = 1000;
/** A finger on a control presses it: the line would cover what comes next. */
export const hintEvents = { hover: true, focus: true, touch: false };

/** The line alone, for the tooltip of a control that asks for nothing more. */
export function CommandHint({ line }: { line: string }) {
  const t = useTexts();
  return (
    <Text span size="xs">
      {t.help}{' '}
      <Text span size="xs" ff="monospace" dir="ltr" style={{ overflowWrap: 'anywhere' }}>
        {line}
      </Text>
    </Text>
  );
}
