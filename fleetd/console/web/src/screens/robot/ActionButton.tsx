import { Button, type ButtonProps, Stack, Text, Tooltip } from '@mantine/core';
import { type ReactNode, useState } from 'react';

import { verbLine } from '../../api/commandline';
import { useMay } from '../../api/me';
import type { Verb } from '../../contract';
import { useRightTexts } from '../../text/rights';
import { usePage } from './page';
import { send } from './sending';
import { useRobotTexts } from './text';

interface Props extends ButtonProps {
  id?: string;
  /** Why it is not possible now; empty if it is. */
  whyNot?: string;
  /** Also shows why not below the button, not only on touch and hover. */
  explain?: boolean;
  onClick?: () => unknown;
  /** The command that it sends to the robot of the page, and what people call that. */
  sends?: [verb: Verb, args: Record<string, unknown>, what: string];
  children: ReactNode;
  label?: string;
  /** The line of the command line that does the same, if it is no command; PartLines shows it. */
  line?: string;
  /** It is chosen already: pressing it again does nothing. */
  chosen?: boolean;
}

/** A button for something that may not be possible: then it says why, and stays in the order of the keyboard. */
export function ActionButton({ whyNot, explain, onClick, sends, children, label, chosen, line, ...rest }: Props) {
  const { id } = usePage();
  const [busy, setBusy] = useState(false);
  const click = async () => {
    if (whyNot || busy) return;
    setBusy(true);
    try {
      await (onClick ? onClick() : sends && send(id, ...sends));
    } finally {
      setBusy(false);
    }
  };
  const button = (
    <Tooltip label={whyNot} disabled={!whyNot} multiline maw="90vw">
      <Button
        aria-disabled={!!whyNot || undefined}
        data-disabled={(!!whyNot && !chosen) || undefined}
        aria-pressed={chosen}
        aria-label={label}
        data-line={line ?? (sends && verbLine(sends[0], sends[1], [id]))}
        data-what={label}
        loading={busy}
        onClick={() => void click()}
        variant="default"
        style={{ flexShrink: 0 }}
        {...rest}
      >
        {children}
      </Button>
    </Tooltip>
  );
  if (!explain) return button;
  return (
    <Stack gap={2}>
      {button}
      {whyNot && (
        <Text size="xs" c="dimmed" dir="auto">
          {whyNot}
        </Text>
      )}
    </Stack>
  );
}

/** Rights that buttons of this page need. */
type Needed = 'command' | 'release_stops' | 'assign' | 'administer' | 'manual' | 'records';

/**
 * Why a person cannot do something to this robot: they lack the right, or nothing would
 * reach it. What fleetd keeps for a robot that is away is possible `later`.
 */
export function useWhyNot(right: Needed = 'command', later = false): string {
  const t = useRobotTexts();
  const { lacks } = useRightTexts();
  const { stale } = usePage();
  const may = useMay(right);
  if (!may) return lacks(t.rights[right], right);
  if (stale === 'page') return t.noFleetd;
  if (later) return '';
  if (stale === 'broker') return t.noBroker;
  return stale === 'robot' ? t.notConnected : '';
}

/** Sends commands to the robot of the page. */
export function useSend(): (
  verb: Verb,
  args: Record<string, unknown>,
  label: string,
  why?: string,
) => ReturnType<typeof send> {
  const { id } = usePage();
  return (verb, args, label, why) => send(id, verb, args, label, why);
}
