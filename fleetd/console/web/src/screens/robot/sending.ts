import { notifications } from '@mantine/notifications';
import { create } from 'zustand';

import { api, type Schemas } from '../../api/client';
import { verbLine } from '../../api/commandline';
import { lineOf } from '../../api/lines';
import { problemOf } from '../../api/problem';
import type { Verb } from '../../contract';
import { doesText, usePerformingTexts } from '../../live/PerformingBadge';
import { robots } from '../../live/robots';
import { toast } from '../../shell/toast';
import { aboutAnswer } from '../../text/answers';
import { inButtons } from '../../text/buttons';
import { ownTooltip, reasonText, useReasonTexts } from '../../text/reasons';
import { useSendingTexts } from './sendingText';
import { wayOut } from './wayOut';
import { stepName, useWayOutTexts } from './wayOutText';

export type Command = Schemas['Command'];

/** A command that was sent from this tab, and what became of it. */
export interface Sent {
  key: string;
  /** What it is for people. */
  label: string;
  verb: string;
  at: number;
  /**
   * A state of commands; REFUSED if fleetd did not accept it; ACCEPTED if fleetd keeps it for
   * the robot. Empty until fleetd answers.
   */
  state: string;
  because: string;
  /** What the robot says itself, if because is in other words. */
  own?: string;
  id?: string;
  /** The line of the command line that does the same. */
  line?: string;
}

/** States in which a command stays. */
const final = new Set([
  'SUCCEEDED',
  'FAILED',
  'REJECTED',
  'CANCELLED',
  'SUPERSEDED',
  'EXPIRED',
  'UNDELIVERED',
  'UNKNOWN',
  'REFUSED',
  'ACCEPTED',
]);

export const ended = (s: Sent): boolean => final.has(s.state);
export const done = (s: Sent): boolean => s.state === 'SUCCEEDED' || s.state === 'ACCEPTED';

/** So many commands of each robot are kept. */
const most = 8;

export const useSent = create<{ of: Record<string, Sent[]> }>()(() => ({ of: {} }));

/** Keeps what this tab has sent, without a message about it. */
function keep(robot: string, sent: Sent): void {
  useSent.setState(({ of }) => {
    const rest = (of[robot] ?? []).filter((s) => s.key !== sent.key);
    return { of: { ...of, [robot]: [sent, ...rest].sort((a, b) => b.at - a.at).slice(0, most) } };
  });
}

function keepAndShow(robot: string, sent: Sent): void {
  keep(robot, sent);
  showToast(robot, sent);
}

/** Notes that fleetd released a stop of a robot; the dialog of the release has its own message. */
export function noteRelease(robot: string, stop: string, label: string, why: string): void {
  const line = lineOf('release-stops', { body: { ids: [stop], why } });
  keep(robot, { key: newKey(), label, verb: '', at: Date.now(), state: 'ACCEPTED', because: why, line });
}

const newKey = (): string => crypto.randomUUID?.() ?? String(Math.random());

function showToast(robot: string, sent: Sent): void {
  const t = useSendingTexts.now();
  const color = !ended(sent) ? 'blue' : done(sent) ? 'green' : 'red';
  const note = {
    id: sent.key,
    color,
    loading: !ended(sent),
    title: `${sent.label}: ${t.states[sent.state as keyof typeof t.states] ?? sent.state}`,
    message: sent.because || (sent.state === 'SUCCEEDED' ? t.reportedBy(robot) : ''),
    // Each kind has a time of its own: one that stays the same goes on, and does not begin again.
    autoClose: !ended(sent) ? 10_000 : done(sent) ? 6000 : 9000,
    withCloseButton: true,
    closeButtonProps: { 'aria-label': t.close },
  };
  toast(note, [robot]);
}

/** Commands after which a person expects that the robot performs. */
const toPerform = new Set<Verb>(['safety/reset', 'safety/enable', 'auto/continue', 'auto/start', 'sys/ack-fault']);
/** ms after which what a robot reports includes what a command did. */
const settled = 1000;

/** Says in the message of a command that succeeded whether the robot performs now, or why not and what comes next. */
function tellWayOut(robot: string, sent: Sent): void {
  const r = robots.get(robot);
  if (!r) return;
  const [t, w] = [useSendingTexts.now(), useWayOutTexts.now()];
  const next = wayOut(r)[0];
  const does = doesText(usePerformingTexts.now(), r);
  // In manual mode a person lets the robot move to drive it.
  const driven = r.mode === 'mnl' && r.safety === 'ENABLED' && sent.verb === 'safety/enable';
  notifications.update({
    id: sent.key,
    color: next && !driven ? 'yellow' : 'green',
    title: `${sent.label}: ${t.states.SUCCEEDED}`,
    message: driven ? (r.control ? w.driven : w.mayDrive) : next ? w.notYet(does, stepName(w, next)) : w.performsNow,
    autoClose: next ? 10_000 : 6000,
  });
}

const sleep = (ms: number) => new Promise((after) => setTimeout(after, ms));

/**
 * Sends a command to one robot, and follows it until it has ended. The promise is that of
 * the end; a refusal does not reject it.
 */
export async function send(
  robot: string,
  verb: Verb,
  args: Record<string, unknown>,
  label: string,
  why?: string,
): Promise<Sent & { answer?: Command['answer'] }> {
  const key = newKey();
  let sent: Sent = {
    key,
    label,
    verb,
    at: Date.now(),
    state: '',
    because: '',
    line: verbLine(verb, args, [robot], why),
  };
  keepAndShow(robot, sent);
  let taken: Command | undefined;
  const take = (c: Command) => {
    taken = c;
    sent = { ...sent, id: c.id, state: c.state ?? '', ...answerOf(c.answer?.reason, c.because, aboutAnswer(c.answer)) };
    keepAndShow(robot, sent);
  };
  try {
    const batch = await api.POST('/api/v1/commands', {
      params: { header: { Prefer: 'wait=2' } },
      body: { verb, args, selector: { ids: [robot] }, why },
    });
    const b = batch.data!;
    if (b.commands[0]) take(b.commands[0]);
    else {
      const skip = b.skipped?.[0];
      sent = { ...sent, state: 'REFUSED', ...answerOf(skip?.reason, skip?.detail) };
      keepAndShow(robot, sent);
    }
  } catch (thrown) {
    const p = problemOf(thrown);
    sent = { ...sent, state: 'REFUSED', because: inButtons([p.message, p.hint].filter(Boolean).join('; ')) };
    keepAndShow(robot, sent);
  }
  while (!ended(sent) && sent.id) {
    await sleep(1000);
    try {
      const next = await api.GET('/api/v1/commands/{id}', { params: { path: { id: sent.id } } });
      if (next.data!.state !== taken?.state || next.data!.because !== taken?.because) take(next.data!);
    } catch (thrown) {
      const p = problemOf(thrown);
      if (p.transient) continue;
      sent = { ...sent, state: 'UNKNOWN', because: inButtons([p.message, p.hint].filter(Boolean).join('; ')) };
      keepAndShow(robot, sent);
    }
  }
  if (sent.state === 'SUCCEEDED' && (toPerform.has(verb) || (verb === 'mode/set' && args.mode === 'ato')))
    setTimeout(() => tellWayOut(robot, sent), settled);
  return { ...sent, answer: taken?.answer };
}

/** Why a command is in its state. */
function answerOf(reason?: string, detail?: string, about?: string): Pick<Sent, 'because' | 'own'> {
  const words = useReasonTexts.now();
  return { because: reasonText(words, reason, detail, about), own: ownTooltip(words, reason, detail) };
}

/** Does `work`, a change by fleetd itself such as one of desired state, and shows its result or refusal. */
export async function change(
  robot: string,
  label: string,
  work: () => Promise<string | undefined>,
  line?: string,
): Promise<boolean> {
  const base = { line, key: newKey(), label, verb: '', at: Date.now() };
  try {
    keepAndShow(robot, { ...base, state: 'ACCEPTED', because: (await work()) ?? '' });
    return true;
  } catch (thrown) {
    const p = problemOf(thrown);
    keepAndShow(robot, {
      ...base,
      state: 'REFUSED',
      because: inButtons([p.message, p.hint].filter(Boolean).join('; ')),
    });
    return false;
  }
}
