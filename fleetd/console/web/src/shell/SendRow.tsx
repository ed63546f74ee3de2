import { Button, Group, Text } from '@mantine/core';
import { type ReactNode, useId } from 'react';

import { CommandLine } from './CommandLine';

interface SendRowProps {
  /** What the button says. */
  label: string;
  busy: boolean;
  /** Why it cannot be pressed; empty: it can. */
  reason: string | false | undefined;
  onSend: () => void;
  /** The same on the command line; left out: nothing is asked yet. */
  lines?: string[];
  children?: ReactNode;
}

/** The last row of a form: the button that sends it, its command line, and why it cannot be sent. */
export function SendRow({ label, busy, reason, onSend, lines, children }: SendRowProps) {
  const id = useId();
  return (
    <Group>
      <Button
        flex="1 0 auto"
        loading={busy}
        disabled={!!reason}
        aria-describedby={reason ? id : undefined}
        onClick={onSend}
      >
        {label}
      </Button>
      {lines && <CommandLine lines={lines} />}
      {children}
      {reason && (
        <Text id={id} size="sm" c="dimmed" role="status">
          {reason}
        </Text>
      )}
    </Group>
  );
}
