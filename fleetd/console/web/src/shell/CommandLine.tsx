import { ActionIcon, Box, Button, Code, CopyButton, Group, Popover, Stack, Text } from '@mantine/core';
import { IconTerminal2 } from '@tabler/icons-react';
import { type KeyboardEvent, useState } from 'react';

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
  {
    open: 'Ligne de commande',
    help: 'La même chose dans un terminal :',
    copy: 'Copier',
    copied: 'Copié',
  },
);

interface Props {
  /** The lines, or what reads them when they are asked for. */
  lines: string[] | (() => string[]);
  compact?: boolean;
  /** Only a symbol, with this name. */
  symbol?: string;
}

/** Shows the line of the command line that does the same. It can also be selected: browsers copy over HTTPS only. */
export function CommandLine({ lines, compact, symbol }: Props) {
  const t = useTexts();
  const [opened, setOpened] = useState(false);
  const text = (typeof lines === 'function' ? (opened ? lines() : []) : lines).join('\n');
  const target = {
    'data-mantine-stop-propagation': opened || undefined,
    onClick: () => setOpened(!opened),
    onKeyDown: (e: KeyboardEvent) => {
      if (opened && e.key === 'Escape') setOpened(false);
    },
  };
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
        {symbol ? (
          <ActionIcon type="button" variant="subtle" size="md" aria-label={symbol} title={symbol} {...target}>
            <IconTerminal2 size={18} aria-hidden />
          </ActionIcon>
        ) : (
          <Button
            type="button"
            variant="subtle"
            size={compact ? 'compact-sm' : 'sm'}
            aria-label={t.open}
            title={t.open}
            {...target}
          >
            {/* On a phone the buttons beside it need the room. */}
            <Group gap={8} wrap="nowrap">
              <IconTerminal2 size={16} aria-hidden />
              <Box visibleFrom="xs">{t.open}</Box>
            </Group>
          </Button>
        )}
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
