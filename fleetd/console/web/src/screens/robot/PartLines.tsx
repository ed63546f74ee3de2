import { useRef } from 'react';

import { CommandLine } from '../../shell/CommandLine';
import { texts } from '../../text/language';
import { linesOf } from './partLines';

const useTexts = texts({ lines: 'Command lines' }, { lines: 'Befehlszeilen' }, { lines: 'Lignes de commande' });

/**
 * Opens the lines of the command line for the controls of the part around it, which is marked
 * with data-part. It covers nothing until a person asks for it. A part without such controls
 * does not show it.
 */
export function PartLines() {
  const t = useTexts();
  const place = useRef<HTMLSpanElement>(null);
  const read = () => linesOf(place.current?.closest('[data-part]')?.querySelectorAll<HTMLElement>('[data-line]') ?? []);
  return (
    <span ref={place} className="part-lines">
      <CommandLine symbol={t.lines} lines={read} />
    </span>
  );
}
