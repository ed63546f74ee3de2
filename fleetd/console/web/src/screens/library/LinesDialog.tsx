import { Button, Code, CopyButton, Group, Modal, Stack, Text } from '@mantine/core';

import { texts } from '../../text/language';

const useLinesTexts = texts(
  {
    title: 'On the command line',
    help: 'Each line does on a terminal what the entry of the menu does here.',
    copy: 'Copy',
    copied: 'Copied',
    close: 'Close',
  },
  {
    title: 'Auf der Befehlszeile',
    help: 'Jede Zeile tut in einem Terminal, was der Eintrag des Menüs hier tut.',
    copy: 'Kopieren',
    copied: 'Kopiert',
    close: 'Schließen',
  },
  {
    title: 'En ligne de commande',
    help: 'Chaque ligne fait dans un terminal ce que l’entrée du menu fait ici.',
    copy: 'Copier',
    copied: 'Copié',
    close: 'Fermer',
  },
);

/** The lines of the command line for the entries of a menu that do their work at once, without a dialog. */
export function LinesDialog({
  lines,
  onClose,
}: {
  lines: readonly { label: string; line: string }[];
  onClose: () => void;
}) {
  const t = useLinesTexts();
  return (
    <Modal opened onClose={onClose} size="lg" title={t.title} closeButtonProps={{ 'aria-label': t.close }}>
      <Stack>
        <Text size="sm">{t.help}</Text>
        {lines.map(({ label, line }) => (
          <Stack key={label} gap={4} component="section" aria-label={label}>
            <Group justify="space-between">
              <Text size="sm" fw={500}>
                {label}
              </Text>
              <CopyButton value={line}>
                {({ copied, copy }) => (
                  <Button size="compact-xs" variant="default" onClick={copy}>
                    {copied ? t.copied : t.copy}
                  </Button>
                )}
              </CopyButton>
            </Group>
            <Code
              block
              dir="ltr"
              data-testid="command-line"
              style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
            >
              {line}
            </Code>
          </Stack>
        ))}
      </Stack>
    </Modal>
  );
}
