import createClient from 'openapi-fetch';

import { base } from '../base';
import { Problem } from './problem';
import type { components, paths } from './schema';

export type Schemas = components['schemas'];
export type Robot = Schemas['Robot'];
export type Detail = Schemas['Detail'];
export type Status = Schemas['Status'];
export type LatchedStop = Schemas['LatchedStop'];
export type Batch = Schemas['Batch'];

const raw = createClient<paths>({ baseUrl: window.location.origin + base });

// Every answer that is not a success is thrown as a Problem, so that a caller handles the
// success and one kind of failure.
raw.use({
  async onResponse({ response }) {
    // Not modified: the caller has the newest version, and said so with If-None-Match.
    if (!response.ok && response.status !== 304) throw await Problem.of(response);
    return undefined;
  },
  onError({ error }) {
    return error instanceof Problem ? error : Problem.unreachable();
  },
});

/** The typed API of fleetd. */
export const api = raw;

/** Unwraps an answer of the API; failures were thrown before. */
export async function data<T>(answer: Promise<{ data?: T }>): Promise<T> {
  return (await answer).data as T;
}
