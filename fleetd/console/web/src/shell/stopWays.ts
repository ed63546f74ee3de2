import { addressOf } from '../base';
import { api, type Batch, type Schemas } from '../api/client';
import { Problem, problemOf } from '../api/problem';

type StopBody = Schemas['LatchStopRequest'];

/** One send of a stop: what to stop, and a key by which fleetd latches both ways as one stop. */
interface Sent {
  body: StopBody;
  key: string;
}

/** ms without an answer after which a stop is also sent the second way. */
export const secondWayAfter = 800;
/** ms after which it is given up. */
export const giveUpAfter = 15_000;

/**
 * Stops robots and latches the stop. fleetd sends it before it stores anything, and its answer waits for no robot. The
 * first way is a request. A browser keeps it back while its pages have six requests open to fleetd without HTTP/2, so
 * a stop without an answer is also sent over a WebSocket, which does not count among them. Both have one key, so one stop
 * is latched if both arrive. What fleetd answers first counts.
 */
export function stop(body: StopBody): Promise<Batch> {
  return new Promise((resolve, reject) => {
    const over = new AbortController();
    const ways = [post, overSocket];
    const sent: Sent = { body, key: crypto.randomUUID?.() ?? String(Math.random()) };
    let open = 0;
    const end = (tell: () => void) => {
      timers.forEach(clearTimeout);
      tell();
      over.abort(); // what the browser still keeps back is never sent
    };
    const next = () => {
      const way = ways.shift();
      if (!way) return;
      open++;
      way(sent, over.signal).then((batch) => end(() => resolve(batch)), failed);
    };
    const failed = (thrown: unknown) => {
      open--;
      const p = problemOf(thrown);
      const answered = p.kind !== 'unreachable' && (p.kind !== '' || p.status < 500); // by fleetd, not by a proxy
      if (!answered && (ways.length > 0 || open > 0)) next();
      else end(() => reject(p));
    };
    const timers = [
      setTimeout(next, secondWayAfter),
      setTimeout(() => end(() => reject(Problem.unreachable())), giveUpAfter),
    ];
    next();
  });
}

// keepalive: also if the page is left.
async function post({ body, key }: Sent, signal: AbortSignal): Promise<Batch> {
  const params = { header: { 'Idempotency-Key': key } };
  return (await api.POST('/api/v1/stops', { params, body, signal, keepalive: true })).data!;
}

function overSocket({ body, key }: Sent, signal: AbortSignal): Promise<Batch> {
  return new Promise((resolve, reject) => {
    const url = new URL(addressOf('/api/v1/stops/socket'), window.location.href);
    url.protocol = url.protocol.replace('http', 'ws');
    url.searchParams.set('key', key); // a page cannot set headers of a WebSocket
    const s = new WebSocket(url);
    signal.addEventListener('abort', () => s.close());
    s.onopen = () => s.send(JSON.stringify(body));
    s.onmessage = (e) => {
      const { status, body: answer } = JSON.parse(e.data as string) as { status: number; body: unknown };
      if (status < 400) resolve(answer as Batch);
      else void Problem.of(new Response(JSON.stringify(answer), { status })).then(reject);
    };
    s.onclose = () => reject(Problem.unreachable()); // after an answer it changes nothing
  });
}
