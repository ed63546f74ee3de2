import type { Schemas } from '../../api/client';
import { problemOf } from '../../api/problem';

type Command = Schemas['Command'];

const sleep = (ms: number) => new Promise((r) => setTimeout(r, ms));

/** ms between two renewals of control; its lease lasts a minute. */
const renewEvery = 20_000;
/** ms until a renewal that failed is tried again. */
const renewAgain = 5_000;

/** The requests about a try, and what is told of it. */
interface Try {
  poll: () => Promise<Command | undefined>;
  renew: () => Promise<unknown>;
  hasBegun: (command: Command) => Promise<boolean>;
  onBegun: () => void;
  closed: () => boolean;
}

/**
 * Follows a try until its command has ended; undefined if the dialog was closed before. While fleetd is away the
 * robot performs on, so a request that fails for that reason is repeated. Throws any other failure.
 */
export async function watchTry(t: Try): Promise<Command | undefined> {
  for (let renewAt = Date.now() + renewEvery, begun = false; !t.closed();) {
    await sleep(begun ? 1000 : 300);
    if (Date.now() >= renewAt) {
      const renewed = await t.renew().then(
        () => true,
        () => false,
      );
      renewAt = Date.now() + (renewed ? renewEvery : renewAgain);
    }
    try {
      const c = await t.poll();
      if (c?.ended) return c;
      if (begun || !c || !(c.state === 'RUNNING' || (await t.hasBegun(c)))) continue;
      begun = true;
      t.onBegun();
    } catch (thrown) {
      if (!problemOf(thrown).transient) throw thrown;
    }
  }
  return undefined;
}

/** Repeats a request while fleetd is away, for up to a minute: until then the lease of control has ended. */
export async function whileAway(request: () => Promise<unknown>): Promise<void> {
  for (const from = Date.now(); ; await sleep(1000)) {
    try {
      await request();
      return;
    } catch (thrown) {
      if (!problemOf(thrown).transient || Date.now() - from > 60_000) throw thrown;
    }
  }
}
