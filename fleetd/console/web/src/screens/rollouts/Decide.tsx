import { Button, Code, Group, Modal, Stack, Text, TextInput, Tooltip } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { api, data } from '../../api/client';
import { lineOf } from '../../api/lines';
import { useMay, useMe } from '../../api/me';
import { problemOf } from '../../api/problem';
import { CommandLine } from '../../shell/CommandLine';
import { NumberChanged } from '../../shell/NumberChanged';
import { Refused } from '../../shell/Refused';
import { useRightTexts } from '../../text/rights';
import type { Detail } from './types';
import { useContentText } from './contentText';
import { affected, type Decision, typed } from './states';
import { useRolloutsTexts } from './text';

export type Deciding = Decision | 'approve';

/** Decisions that only hold robots back: nobody types their number. */
const withoutNumber: readonly Deciding[] = ['pause', 'abort'];

interface ButtonProps {
  of: Detail;
  what: Deciding;
  onDecide: (what: Deciding) => void;
  primary?: boolean;
}

/** A button for a decision. If the decision is not possible now, it says why, and stays in the order of the keyboard. */
export function DecideButton({ of: d, what, onDecide, primary }: ButtonProps) {
  const t = useRolloutsTexts();
  const { lacks } = useRightTexts();
  const right = what === 'approve' ? 'approve' : 'assign';
  const may = useMay(right);
  const me = useMe();
  const own = what === 'approve' && !!me && me.id === d.created_by;
  const possible = d.can.includes(what);
  const whyNot = !may ? lacks(t.mayNot[right], right) : !possible ? t.notNow(t.states[d.state]) : own ? t.ownWork : '';
  return (
    <Tooltip label={whyNot} disabled={!whyNot}>
      <Button
        variant={primary && !whyNot ? 'filled' : 'default'}
        data-disabled={!!whyNot || undefined}
        aria-disabled={!!whyNot || undefined}
        onClick={() => !whyNot && onDecide(what)}
      >
        {t.decide[what]}
      </Button>
    </Tooltip>
  );
}

/** Asks before something is decided, with the number of robots that it is about. */
export function DecideDialog({ of: d, what, onClose }: { of: Detail; what: Deciding; onClose: () => void }) {
  const t = useRolloutsTexts();
  const said = useContentText();
  const queries = useQueryClient();
  const [why, setWhy] = useState('');
  const [number, setNumber] = useState('');
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<unknown>();
  const [before, setBefore] = useState<number>();
  const n = what === 'approve' ? d.total : affected(what, d.counts);
  const confirm = n > typed && !withoutNumber.includes(what);
  const path = { id: d.id };
  const reason = why.trim() || undefined;
  // fleetd compares the start with all robots, also those that do not get it.
  const all = what === 'start' ? d.total : n;
  const expected = withoutNumber.includes(what) || what === 'resume' ? undefined : all;
  const body = { why: reason, expected_count: expected };
  const approval = { digest: d.digest, why: reason };
  const submit = async () => {
    setBusy(true);
    setRefused(undefined);
    setBefore(undefined);
    try {
      await send(what);
      notifications.show({ message: t.accepted[what] });
      onClose();
    } catch (thrown) {
      if (problemOf(thrown).numberChanged) setBefore(n);
      else setRefused(thrown);
      setNumber('');
    }
    await queries.invalidateQueries({ queryKey: ['rollouts'] });
    setBusy(false);
  };
  const send = (w: Deciding) => {
    const params = { path };
    switch (w) {
      case 'start':
        return data(api.POST('/api/v1/rollouts/{id}/start', { params, body }));
      case 'pause':
        return data(api.POST('/api/v1/rollouts/{id}/pause', { params, body }));
      case 'resume':
        return data(api.POST('/api/v1/rollouts/{id}/resume', { params, body }));
      case 'retry':
        return data(api.POST('/api/v1/rollouts/{id}/retry', { params, body }));
      case 'abort':
        return data(api.POST('/api/v1/rollouts/{id}/abort', { params, body }));
      case 'rollback':
        return data(api.POST('/api/v1/rollouts/{id}/rollback', { params, body }));
      case 'approve':
        return data(api.POST('/api/v1/rollouts/{id}/approve', { params, body: approval }));
    }
  };
  const shown =
    what === 'approve'
      ? lineOf('approve-rollout', { path, body: approval })
      : lineOf(`${what}-rollout` as 'start-rollout', { path, body });
  return (
    <Modal opened onClose={onClose} title={t.decideTitle[what]} closeButtonProps={{ 'aria-label': t.close }}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void submit();
        }}
      >
        <Stack>
          <Text dir="auto" fw={500} className="any-text">
            {d.name && d.name !== d.content ? d.name : said(d.content)}
          </Text>
          <Text>{t.says[what](n)}</Text>
          {what === 'approve' && (
            <div>
              <Text size="sm">{said(d.content)}</Text>
              <Code block style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
                {d.digest}
              </Code>
              <Text size="xs" c="dimmed">
                {t.digestHelp}
              </Text>
            </div>
          )}
          <TextInput
            label={t.reason}
            value={why}
            maxLength={256}
            data-autofocus
            onChange={(e) => setWhy(e.currentTarget.value)}
          />
          {confirm && (
            <TextInput
              label={t.typeNumber(n)}
              value={number}
              inputMode="numeric"
              onChange={(e) => setNumber(e.currentTarget.value)}
            />
          )}
          {before !== undefined && <NumberChanged before={before} now={n} />}
          {refused !== undefined && <Refused error={refused} />}
          <Group justify="flex-end">
            <CommandLine lines={[shown]} />
            <Button variant="default" onClick={onClose}>
              {t.cancel}
            </Button>
            <Button
              type="submit"
              color={what === 'abort' || what === 'rollback' ? 'red' : undefined}
              loading={busy}
              disabled={confirm && number.trim() !== String(n)}
            >
              {t.doIt[what](n)}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
