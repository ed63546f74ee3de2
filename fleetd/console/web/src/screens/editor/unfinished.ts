import type { Finding } from '../library/api';

type Coded = Pick<Finding, 'code' | 'severity'>;

/** Codes of errors that say only that something is not written yet. */
const codes = new Set(['missing', 'story_empty', 'zero_length']);

/**
 * Whether a problem is one of a draft that is not finished, and not of one that is wrong. Its
 * author sees it as something to do; it is an error when they publish.
 */
export const isUnfinished = (p: Coded) => p.severity === 'error' && codes.has(p.code);

/** Whether a problem is that an act is only a draft, which can be published together with what names it. */
export const isDraftAct = (p: Coded) => p.code === 'act_not_published';

/** Whether a problem is something to do, and nothing wrong. */
export const isTodo = (p: Coded) => isUnfinished(p) || isDraftAct(p);

/** Whether a problem keeps a draft from being published although it is finished. */
export const isWrong = (p: Coded) => p.severity === 'error' && !isTodo(p);
