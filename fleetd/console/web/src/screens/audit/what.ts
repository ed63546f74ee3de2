import { useAuditedWords } from '../../text/audited';
import { inWords, useTermWords } from '../../text/terms';
import { useVerbWords } from '../../text/verbs';
import { type Entry, modeOf, verbOf } from './entry';
import { useAuditTexts } from './text';

/** What an entry says was done: in words, and the code by which the filter and the command line find it. */
export interface What {
  words: string;
  code: string;
}

/** A function that names what an entry says was done; for the end of a command also from the entry that began it. */
export function useWhat(): (e: Entry, begun?: Entry) => What {
  const t = useAuditTexts();
  const verbs: Record<string, string> = useVerbWords();
  const audited: Record<string, string> = useAuditedWords();
  const modes: Record<string, string> = useTermWords().ModeID;
  return (e, begun) => {
    const verb = verbOf(e);
    const mode = modeOf(e) || (begun ? modeOf(begun) : '');
    const code = verb || e.what;
    if (mode) return { words: t.toMode(inWords(modes, mode)), code };
    return { words: (verb ? verbs[verb] : audited[e.what]) ?? code, code };
  };
}
