import {
  Anchor,
  Button,
  Card,
  Checkbox,
  Group,
  Loader,
  NativeSelect,
  NumberInput,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useNavigate, useParams } from 'react-router';

import { lineOf } from '../../api/lines';
import { useMay } from '../../api/me';
import { problemOf } from '../../api/problem';
import { useRightTexts } from '../../text/rights';
import { NumberChanged } from '../../shell/NumberChanged';
import { Refused } from '../../shell/Refused';
import { SendRow } from '../../shell/SendRow';
import { complete, type What } from '../assign/model';
import { WhatForm } from '../assign/WhatForm';
import type { Content } from '../rollouts/types';
import { contentOf } from '../rollouts/content';
import { useContentText } from '../rollouts/contentText';
import { typed } from '../rollouts/states';
import { usePlanTexts } from '../rollouts/planText';
import { type Policy, type PolicyRequest, putPolicy, usePolicies } from './api';
import { DeleteDialog } from './DeleteDialog';
import { Effect } from './Effect';
import { areLabels, labelTexts, selectorOf } from './labels';
import { Labels } from './Labels';
import { usePoliciesTexts } from './text';

/** Names of policies; new is an address of the console. */
const valid = /^(?!new$)[a-z0-9][a-z0-9-]{0,62}$/;

/** One policy, or a new one. */
export default function PolicyPage() {
  const t = usePoliciesTexts();
  const { id = 'new' } = useParams();
  const list = usePolicies();
  if (!list.data) return list.isError ? <Refused error={list.error} /> : <Loader aria-label={t.checking} />;
  const policy = list.data.find((p) => p.id === id);
  if (id !== 'new' && !policy)
    return (
      <Stack align="flex-start">
        <Title order={1} size="h2">
          {t.unknown(id)}
        </Title>
        <Anchor component={Link} to="/policies">
          {t.toAll}
        </Anchor>
      </Stack>
    );
  // The next free place, behind all others.
  const next = Math.max(0, ...list.data.map((p) => p.place)) + 10;
  return <Form key={id} of={policy} next={next} />;
}

function Form({ of, next }: { of?: Policy; next: number }) {
  const t = usePoliciesTexts();
  const plans = usePlanTexts();
  const { lacks } = useRightTexts();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const said = useContentText();
  const may = useMay('assign');
  const [id, setID] = useState(of?.id ?? '');
  // A policy that somebody changes meanwhile is refused instead of overwritten.
  const [version] = useState(of?.version ?? 0);
  const [place, setPlace] = useState<number | string>(of?.place ?? next);
  const [all, setAll] = useState(!!of?.selector.all);
  const [labels, setLabels] = useState<string[]>(of ? labelTexts(of.selector) : []);
  const [enabled, setEnabled] = useState(of?.enabled ?? true);
  /** Another content than the present one; a present one stays as it is, with its revisions. */
  const [what, setWhat] = useState<What | undefined>(
    of ? undefined : { kind: 'story', story: '', rev: 0, apply: 'next_act' },
  );
  const [how, setHow] = useState<keyof typeof t.hows>('waves');
  const [why, setWhy] = useState('');
  const [agreed, agree] = useState(0);
  const [number, setNumber] = useState('');
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<unknown>();
  const [before, setBefore] = useState<number>();
  const [deleting, setDeleting] = useState(false);

  const content: Content | undefined = what ? (complete(what) ? contentOf(what) : undefined) : of?.content;
  const named = valid.test(id);
  const placed = Number.isInteger(place);
  const selected = all || (labels.length > 0 && areLabels(labels));
  const body: PolicyRequest | undefined =
    content && selected && placed
      ? {
          place: Number(place),
          selector: selectorOf(all, labels),
          content,
          enabled: enabled ? undefined : false,
          version,
          now: how === 'now' || undefined,
        }
      : undefined;
  const text = JSON.stringify(body && named ? { id, body } : undefined);
  const [asked] = useDebouncedValue(text, 250);
  const dry = useQuery({
    queryKey: ['policy-dry', asked],
    queryFn: () => {
      const a = JSON.parse(asked!) as { id: string; body: PolicyRequest };
      return putPolicy(a.id, { ...a.body, dry_run: true });
    },
    enabled: may && !!asked && !busy,
    placeholderData: keepPreviousData,
    refetchInterval: 10_000,
    gcTime: 0,
    retry: false,
  });
  const result = body && named && !dry.isError ? dry.data : undefined;
  const changes = result?.updated.length ?? 0;
  const taken = result?.rollouts.reduce((n, r) => n + r.superseding, 0) ?? 0;
  const reason = [
    !may && lacks(t.forbidden, 'assign'),
    !named && t.badName,
    !placed && t.noPlace,
    !content && t.noContent,
    !selected && (labels.length > 0 ? t.badLabel : t.noLabels),
    dry.isError && t.refused,
    (!result || dry.isPlaceholderData || asked !== text) && t.checking,
    taken > 0 && agreed !== taken && plans.agreeFirst,
    changes > typed && number.trim() !== String(changes) && t.typeNumber(changes),
  ].find((r) => !!r);
  const full: PolicyRequest | undefined = body && {
    ...body,
    why: why.trim() || undefined,
    expected_count: result ? changes : undefined,
    supersede: taken > 0 ? taken : undefined,
  };
  const submit = async () => {
    if (reason || !full) return;
    setBusy(true);
    setRefused(undefined);
    setBefore(undefined);
    try {
      const [rollout] = (await putPolicy(id, full)).rollouts;
      notifications.show({ message: t.saved });
      await queries.invalidateQueries({ queryKey: ['policies'] });
      void navigate(rollout?.id ? `/rollouts/${encodeURIComponent(rollout.id)}` : '/policies');
    } catch (thrown) {
      if (problemOf(thrown).numberChanged) setBefore(changes);
      else setRefused(thrown);
      setNumber('');
      await dry.refetch();
    }
    setBusy(false);
  };
  return (
    <Stack maw={1400}>
      <Stack gap={4}>
        <Anchor component={Link} to="/policies" size="sm">
          {t.toAll}
        </Anchor>
        <Title order={1} size="h2" dir="auto">
          {of ? of.id : t.newTitle}
        </Title>
      </Stack>
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        <Stack>
          <Card withBorder>
            <Stack gap="sm">
              <Group align="flex-start">
                {!of && (
                  <TextInput
                    label={t.name}
                    description={t.idHelp}
                    value={id}
                    maxLength={63}
                    dir="ltr"
                    onChange={(e) => setID(e.currentTarget.value)}
                  />
                )}
                <NumberInput
                  label={t.place}
                  description={t.placeHelp}
                  value={place}
                  min={0}
                  max={1_000_000}
                  w={130}
                  onChange={setPlace}
                />
              </Group>
              <Checkbox label={t.enabled} checked={enabled} onChange={(e) => setEnabled(e.currentTarget.checked)} />
            </Stack>
          </Card>
          <Card withBorder>
            <Stack gap="sm">
              <Title order={2} size="h4">
                {t.who}
              </Title>
              <Labels
                help={t.labelsHelp}
                all={all}
                labels={labels}
                onChange={(a, l) => {
                  setAll(a);
                  setLabels(l);
                }}
              />
            </Stack>
          </Card>
          {of && (
            <Card withBorder>
              <Group justify="space-between">
                <Text dir="auto" className="any-text" fw={500}>
                  {said(of.text)}
                </Text>
                <Button
                  variant="default"
                  onClick={() => setWhat(what ? undefined : { kind: 'story', story: '', rev: 0, apply: 'next_act' })}
                >
                  {what ? t.keepContent : t.changeContent}
                </Button>
              </Group>
            </Card>
          )}
          {what && <WhatForm what={what} onChange={(w) => w.kind !== 'back' && setWhat(w)} />}
        </Stack>
        <Card withBorder style={{ alignSelf: 'start' }}>
          <Stack gap="sm">
            <Title order={2} size="h4">
              {t.check}
            </Title>
            {dry.isFetching && !result && asked && <Loader size="sm" aria-label={t.checking} />}
            {dry.isError && asked && <Refused error={dry.error} />}
            {result && <Effect of={result} />}
            <NativeSelect
              label={t.how}
              value={how}
              data={Object.entries(t.hows).map(([value, label]) => ({ value, label }))}
              onChange={(e) => setHow(e.currentTarget.value as typeof how)}
            />
            {taken > 0 && (
              <Checkbox
                label={plans.agree(taken)}
                checked={agreed === taken}
                onChange={(e) => agree(e.currentTarget.checked ? taken : 0)}
              />
            )}
            <TextInput label={t.reason} value={why} maxLength={256} onChange={(e) => setWhy(e.currentTarget.value)} />
            {changes > typed && (
              <TextInput
                label={t.typeNumber(changes)}
                value={number}
                inputMode="numeric"
                onChange={(e) => setNumber(e.currentTarget.value)}
              />
            )}
            {before !== undefined && <NumberChanged before={before} now={dry.isFetching ? undefined : changes} />}
            {refused !== undefined && <Refused error={refused} />}
            <SendRow
              label={t.save(changes)}
              busy={busy}
              reason={reason}
              onSend={() => void submit()}
              lines={full && named ? [lineOf('put-policy', { path: { id }, body: full })] : undefined}
            >
              {of && (
                <Button variant="default" disabled={!may} onClick={() => setDeleting(true)}>
                  {t.delete}
                </Button>
              )}
            </SendRow>
          </Stack>
        </Card>
      </SimpleGrid>
      {deleting && of && <DeleteDialog id={of.id} onClose={() => setDeleting(false)} />}
    </Stack>
  );
}
