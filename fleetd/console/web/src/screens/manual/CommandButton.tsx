import type { ReactNode } from 'react';

import { verbLine } from '../../api/commandline';
import type { Verb } from '../../contract';
import { ActionButton, useSend } from '../robot/ActionButton';
import { usePage } from '../robot/page';

interface Props {
  whyNot: string;
  /** What the command still lacks; empty if nothing. */
  lacks?: string;
  /** The command, and what people call that. */
  sends: [verb: Verb, args: Record<string, unknown>, what: string];
  /** Called before it is sent. */
  first?: () => void;
  children: ReactNode;
}

/** A button that sends a command each time it is pressed, without waiting for the answer to the last one. */
export function CommandButton({ whyNot, lacks, sends, first, children }: Props) {
  const { id } = usePage();
  const send = useSend();
  const click = () => {
    first?.();
    void send(...sends);
  };
  return (
    <ActionButton
      whyNot={whyNot || lacks}
      h={48}
      line={lacks ? undefined : verbLine(sends[0], sends[1], [id])}
      onClick={click}
    >
      {children}
    </ActionButton>
  );
}
