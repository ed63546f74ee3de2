import { useLanguage } from '../../text/language';
import { inPlainEnglish } from './plainWhy';
import { inFrench, inGerman } from './why';

const said = { en: inPlainEnglish, de: inGerman, fr: inFrench };

/** Says in the console's language what fleetd writes about a rollout. */
export function useWhyText(): (why: string | undefined) => string {
  const language = useLanguage((s) => s.language);
  return (why = '') => said[language](why);
}
