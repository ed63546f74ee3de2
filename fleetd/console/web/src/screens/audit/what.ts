import { withTerm } from '../../text/terms';

/** What an entry says was done: a command in words, with its verb beside them. */
export function whatText(verbs: Record<string, string>, what: string): string {
  const [kind, verb] = what.split(' ', 2);
  return kind === 'command' && verb ? withTerm(verbs, verb) : what;
}
