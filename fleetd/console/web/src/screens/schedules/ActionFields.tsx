import { Button, Group, NativeSelect, Stack, Text } from '@mantine/core';

import { useModeName } from '../../text/modes';
import { WhatForm } from '../assign/WhatForm';
import { useRollouts } from '../rollouts/api';
import { useContentText } from '../rollouts/contentText';
import { usePoliciesTexts } from '../policies/text';
import type { ActionForm } from './actionForm';
import type { Action } from './types';
import { useSchedulesTexts } from './text';
import { contentText } from './words';

interface Props {
  form: ActionForm;
  onChange: (f: ActionForm) => void;
  label: string;
}

/** What happens at a time. */
export function ActionFields({ form: f, onChange, label }: Props) {
  const t = useSchedulesTexts();
  const modeName = useModeName();
  const put = (some: Partial<ActionForm>) => onChange({ ...f, ...some });
  return (
    <Stack gap="sm">
      <NativeSelect
        label={label}
        value={f.kind}
        data={Object.entries(t.actions).map(([value, text]) => ({ value, label: text }))}
        onChange={(e) => put({ kind: e.currentTarget.value as keyof Action })}
      />
      {f.kind === 'performance' && (
        <NativeSelect
          label={t.performance}
          value={f.performance}
          data={Object.entries(t.performances).map(([value, text]) => ({ value, label: text }))}
          onChange={(e) => put({ performance: e.currentTarget.value as ActionForm['performance'] })}
        />
      )}
      {f.kind === 'mode' && (
        <NativeSelect
          label={t.mode}
          value={f.mode}
          data={['ato', 'mnl', 'str'].map((value) => ({ value, label: modeName(value) }))}
          onChange={(e) => put({ mode: e.currentTarget.value })}
        />
      )}
      {f.kind === 'rollout' && <RolloutChoice value={f.rollout} onChange={(rollout) => put({ rollout })} />}
      {f.kind === 'assign' && <ContentFields form={f} onChange={onChange} />}
    </Stack>
  );
}

/** Rollouts that wait until somebody, or a schedule, starts them. */
function RolloutChoice({ value, onChange }: { value: string; onChange: (id: string) => void }) {
  const t = useSchedulesTexts();
  const said = useContentText();
  const ready = useRollouts({ state: 'READY' });
  const rows = ready.data?.rollouts ?? [];
  return (
    <>
      <NativeSelect
        label={t.rollout}
        value={value}
        data={[
          { value: '', label: '–' },
          ...(value && !rows.some((r) => r.id === value) ? [{ value, label: value }] : []),
          ...rows.map((r) => ({ value: r.id, label: `${r.name || said(r.content)} (${r.total})` })),
        ]}
        onChange={(e) => onChange(e.currentTarget.value)}
      />
      {ready.isSuccess && rows.length === 0 && <Text size="sm">{t.noRollouts}</Text>}
    </>
  );
}

function ContentFields({ form: f, onChange }: Omit<Props, 'label'>) {
  const words = usePoliciesTexts();
  const said = useContentText();
  const what = f.what ?? (f.content ? undefined : ({ kind: 'story', story: '', rev: 0, apply: 'next_act' } as const));
  return (
    <>
      {f.content && (
        <Group justify="space-between">
          <Text fw={500} size="sm" dir="auto" className="any-text">
            {said(contentText(f.content))}
          </Text>
          <Button
            size="compact-sm"
            variant="default"
            onClick={() =>
              onChange({ ...f, what: f.what ? undefined : { kind: 'story', story: '', rev: 0, apply: 'next_act' } })
            }
          >
            {f.what ? words.keepContent : words.changeContent}
          </Button>
        </Group>
      )}
      {what && <WhatForm what={what} onChange={(w) => w.kind !== 'back' && onChange({ ...f, what: w })} />}
    </>
  );
}
