import { Alert, Autocomplete, Group, TextInput } from '@mantine/core';
import { IconPlayerRecord } from '@tabler/icons-react';
import { useState } from 'react';

import type { Verb } from '../../contract';
import { useTimeline } from '../../live/timeline';
import { usePage } from '../robot/page';
import { CommandButton } from './CommandButton';
import type { Drive } from './drive';
import { Part } from './Part';
import { useManualTexts } from './text';
import { useTakes, useWhyNotManual } from './whyNot';

/** Acts of the story and taught ones, and a new one from what the person does. */
export function Acts({ drive }: { drive?: Drive }) {
  const t = useManualTexts();
  const { detail } = usePage();
  const whyNot = useWhyNotManual(drive);
  const story = detail?.desired.active;
  const timeline = useTimeline(story?.id ? { id: story.id, rev: story.rev } : undefined);
  const [act, setAct] = useState('');
  const [name, setName] = useState('');
  const records = useTakes('manual/act-record');
  if (!useTakes('manual/act')) return null;
  const acts = [
    ...new Set([...(detail?.acts?.acts ?? []).map((a) => a.id), ...(timeline.data?.acts ?? []).map((a) => a.act)]),
  ];
  const recording = detail?.state?.recording;
  const record = (what: 'start' | 'stop' | 'cancel', label: string): [Verb, Record<string, unknown>, string] => [
    'manual/act-record',
    what === 'start' ? { do: what, act: name } : { do: what },
    t.recordSent(label, recording?.act ?? name),
  ];
  return (
    <Part title={t.acts}>
      <Group align="flex-end" gap="xs">
        <Autocomplete label={t.act} value={act} onChange={setAct} data={acts} size="md" flex={1} />
        <CommandButton
          whyNot={whyNot}
          lacks={act ? '' : t.needName}
          sends={['manual/act', { act }, t.performSent(act)]}
        >
          {t.perform}
        </CommandButton>
      </Group>
      {records &&
        (recording ? (
          <Alert color="red" icon={<IconPlayerRecord aria-hidden />} title={t.recording(recording.act)}>
            <Group gap="xs">
              <CommandButton whyNot={whyNot} sends={record('stop', t.recordStop)}>
                {t.recordStop}
              </CommandButton>
              <CommandButton whyNot={whyNot} sends={record('cancel', t.recordCancel)}>
                {t.recordCancel}
              </CommandButton>
            </Group>
          </Alert>
        ) : (
          <Group align="center" gap="xs">
            <TextInput
              label={t.recordName}
              description={t.recordNameHelp}
              inputWrapperOrder={['label', 'input', 'description', 'error']}
              value={name}
              maxLength={63}
              size="md"
              flex={1}
              miw={180}
              onChange={(e) => setName(e.currentTarget.value)}
            />
            <CommandButton whyNot={whyNot} lacks={name ? '' : t.needName} sends={record('start', t.recordStart)}>
              {t.recordStart}
            </CommandButton>
          </Group>
        ))}
    </Part>
  );
}
