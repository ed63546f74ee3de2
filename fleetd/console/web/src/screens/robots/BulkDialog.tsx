import { Alert, Button, Group, List, Loader, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { problemOf } from '../../api/problem';
import { CommandLine } from '../../shell/CommandLine';
import { NumberChanged } from '../../shell/NumberChanged';
import { Refused } from '../../shell/Refused';
import { toast } from '../../shell/toast';
import { useModeName } from '../../text/modes';
import { type Preview, preview, send } from './bulk';
import { follow } from './follow';
import { type BulkAction, bulkLine } from './bulkRequest';
import { useBulkTexts } from './bulkText';
import type { Selector } from './filter';
import { useRobotsTexts } from './text';

/** Above this many robots, a person types their number. */
const typed = 50;

interface Props {
  action: BulkAction;
  selector: Selector;
  name: string;
  onClose: () => void;
}

/** Shows what an action would do, then does exactly that or nothing. */
export function BulkDialog({ action, selector, name, onClose }: Props) {
  const t = useBulkTexts();
  const words = useRobotsTexts();
  const modeName = useModeName();
  const [why, setWhy] = useState('');
  const [number, setNumber] = useState('');
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<unknown>();
  /** The number of robots that a person agreed to and that was no longer right. */
  const [before, setBefore] = useState<number>();
  const dry = useQuery({
    queryKey: ['bulk', action, selector],
    queryFn: () => preview(action, selector),
    gcTime: 0,
    staleTime: Infinity,
  });
  const total = dry.data?.total ?? 0;
  const confirmed = total <= typed || number.trim() === String(total);

  const what =
    action.kind === 'label' ? t.label : action.name === 'mode' ? `${t.mode}: ${modeName(action.mode)}` : t[action.name];
  const submit = async () => {
    setBusy(true);
    setRefused(undefined);
    setBefore(undefined);
    try {
      const batch = await send(action, selector, total, why.trim());
      if (batch) void follow(batch, what);
      else toast({ color: 'green', message: t.labelled(total - (dry.data?.unchanged ?? 0)) }, selector.ids);
      onClose();
    } catch (thrown) {
      if (problemOf(thrown).numberChanged) {
        setBefore(total);
        setNumber('');
        await dry.refetch();
      } else setRefused(thrown);
    }
    setBusy(false);
  };
  return (
    <Modal opened onClose={onClose} title={what} size="lg" closeButtonProps={{ 'aria-label': words.close }}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void submit();
        }}
      >
        <Stack>
          <Text size="sm" c="dimmed" dir="auto">
            {name}
          </Text>
          {dry.isPending && <Loader size="sm" aria-label={t.checking} />}
          {dry.isError && <Alert color="red" title={t.notChecked} children={problemOf(dry.error).message} />}
          {dry.data && <Summary p={dry.data} />}
          {action.kind === 'verb' && action.name === 'enable' && <Text size="sm">{t.enableHelp}</Text>}
          {before !== undefined && <NumberChanged before={before} now={dry.isFetching ? undefined : total} />}
          {refused !== undefined && <Refused error={refused} />}
          <TextInput label={t.why} value={why} maxLength={256} onChange={(e) => setWhy(e.currentTarget.value)} />
          {total > typed && (
            <TextInput
              label={t.typeNumber(total)}
              value={number}
              inputMode="numeric"
              onChange={(e) => setNumber(e.currentTarget.value)}
            />
          )}
          <Group justify="flex-end" gap="xs">
            <CommandLine compact lines={[bulkLine(action, selector, dry.data ? total : undefined, why)]} />
            <Button variant="default" onClick={onClose}>
              {t.cancel}
            </Button>
            <Button type="submit" loading={busy} disabled={!dry.data || total === 0 || !confirmed}>
              {t.doIt(total)}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

/** Up to this many robots of a reason are named. */
const named = 5;

function Summary({ p }: { p: Preview }) {
  const t = useBulkTexts();
  return (
    <List size="sm" data-testid="dry-run">
      <List.Item>
        <b>{t.willReach(p.total)}</b>
      </List.Item>
      {p.waiting > 0 && <List.Item>{t.waiting(p.waiting)}</List.Item>}
      {p.unchanged > 0 && <List.Item>{t.unchanged(p.unchanged)}</List.Item>}
      {p.skipped.map(([why, robots]) => (
        <List.Item key={why}>
          {t.skips(robots.length)}: <span dir="auto">{why}</span> ({robots.slice(0, named).join(', ')}
          {robots.length > named ? ', …' : ''})
        </List.Item>
      ))}
    </List>
  );
}
