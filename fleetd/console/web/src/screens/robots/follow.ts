import { notifications } from '@mantine/notifications';

import { api, type Batch, data } from '../../api/client';
import { problemOf } from '../../api/problem';
import { toast } from '../../shell/toast';
import { inButtons } from '../../text/buttons';
import { useSendingTexts } from '../robot/sendingText';
import { useBulkTexts } from './bulkText';
import { type NotDone, progressOf, settled } from './outcome';

/** ms between two looks at what robots have answered. */
const every = 1000;
/** Up to this many robots of a reason are named, and this many reasons are shown. */
const named = 5;

/** Shows how many robots have answered, and in the end what they did and why others did not. */
export async function follow(batch: Batch, label: string): Promise<void> {
  const key = batch.id ?? crypto.randomUUID?.() ?? String(Math.random());
  const robots = batch.commands.map((c) => c.robot);
  let b = batch;
  const running = () => {
    const [t, p] = [useBulkTexts.now(), progressOf(b)];
    return {
      id: key,
      color: 'blue',
      loading: true,
      autoClose: false as const,
      title: `${label}: ${t.accepted(p.total)}`,
      message: t.answered(p.total - p.open, p.total),
      closeButtonProps: { 'aria-label': useSendingTexts.now().close },
    };
  };
  toast(running(), robots);
  while (!settled(b) && b.id) {
    await new Promise((after) => setTimeout(after, every));
    try {
      b = await data(api.GET('/api/v1/batches/{id}', { params: { path: { id: b.id } } }));
      notifications.update(running());
    } catch (thrown) {
      if (problemOf(thrown).status !== 0) break; // while fleetd does not answer, it is asked again
    }
  }
  // Another message than the one before, which a person may have closed.
  notifications.hide(key);
  toast(ended(b, label), robots);
}

function ended(b: Batch, label: string) {
  const [t, p] = [useBulkTexts.now(), progressOf(b)];
  const close = { 'aria-label': useSendingTexts.now().close };
  if (!settled(b)) return { color: 'yellow', title: label, message: t.follow, closeButtonProps: close };
  const well = p.not.length === 0;
  return {
    color: well ? 'green' : 'red',
    title: `${label}: ${well ? t.allDone(p.done) : t.someDone(p.done, p.total)}`,
    message: p.not.slice(0, named).map(lineOf).join('; '),
    autoClose: well ? 6000 : (false as const),
    closeButtonProps: close,
  };
}

/** One reason, with how many robots had it and which. */
function lineOf({ state, because, robots }: NotDone): string {
  const states: Record<string, string> = useSendingTexts.now().states;
  const what = state === 'SKIPPED' ? useBulkTexts.now().leftOut : (states[state] ?? state);
  const names = robots.slice(0, named).join(', ') + (robots.length > named ? ', …' : '');
  return `${robots.length} ${what}${because ? `: ${inButtons(because)}` : ''} (${names})`;
}
