import type { Schemas } from '../../api/client';

/** What the command line asks in the address; nothing if it is not complete. */
export function askedLogin(search: string): Schemas['AllowLogin'] | undefined {
  const q = new URLSearchParams(search);
  const port = Number(q.get('port'));
  const [state, challenge, machine] = [q.get('state') ?? '', q.get('challenge') ?? '', (q.get('machine') ?? '').trim()];
  const token = /^[A-Za-z0-9_-]+$/;
  if (!Number.isInteger(port) || port < 1024 || port > 65535) return undefined;
  if (!token.test(state) || state.length < 16 || !token.test(challenge) || challenge.length !== 43) return undefined;
  if (!machine || machine.length > 40) return undefined;
  return { port, state, challenge, machine };
}

/** Where the browser goes if the person does not allow it: always this machine. */
export function denied(asked: Schemas['AllowLogin']): string {
  return `http://127.0.0.1:${asked.port}/?state=${asked.state}`;
}
