import type { Finding } from '../library/api';

/** Codes of errors that say only that something is not written yet. */
const codes = new Set(['missing', 'story_empty', 'zero_length']);

/**
 * Whether a problem is one of a draft that is not finished, and not of one that is wrong. Its
 * author sees it as something to do; it is an error when they publish.
 */
export const isUnfinished = (p: Pick<Finding, 'code' | 'severity'>) => p.severity === 'error' && codes.has(p.code);

/** Whether a problem keeps a draft from being published although it is finished. */
export const isWrong = (p: Pick<Finding, 'code' | 'severity'>) => p.severity === 'error' && !isUnfinished(p);
