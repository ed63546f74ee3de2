import { useLanguage } from '../../text/language';
import { inPlainEnglish, withStateWords } from './plainWhy';
import { useRolloutsTexts } from './text';
import { inFrench, inGerman } from './why';

const said = { en: inPlainEnglish, de: inGerman, fr: inFrench };

/** Says in the console's language what fleetd writes about a rollout. */
export function useWhyText(): (why: string | undefined) => string {
  const language = useLanguage((s) => s.language);
  const { robotStates } = useRolloutsTexts();
  return (why = '') => withStateWords(said[language](why), robotStates);
}
