import { useLanguage } from '../../text/language';
import { inPlainEnglish } from './plainWhy';
import { inGerman } from './why';

/** Says in the console's language what fleetd writes about a rollout. */
export function useWhyText(): (why: string | undefined) => string {
  const speaksGerman = useLanguage((s) => s.language === 'de');
  return (why = '') => (speaksGerman ? inGerman(why) : inPlainEnglish(why));
}
