import { Alert, Autocomplete, Group, TextInput } from '@mantine/core';
import { IconPlayerRecord } from '@tabler/icons-react';
import { useState } from 'react';

import { Do, useSend } from '../robot/Do';
import { useTimeline } from '../robot/acting';
import { usePage } from '../robot/page';
import type { Drive } from './drive';
import { Part } from './Part';
import { useManualTexts } from './text';
import { useTakes, useWhyNotManual } from './whyNot';

/** Acts of the story and taught ones, and a new one from what the person does. */
export function Acts({ drive }: { drive?: Drive }) {
  const t = useManualTexts();
  const send = useSend();
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
  const record = (what: 'start' | 'stop' | 'cancel', label: string) =>
    send(
      'manual/act-record',
      what === 'start' ? { do: what, act: name } : { do: what },
      t.recordSent(label, recording?.act ?? name),
    );
  return (
    <Part title={t.acts}>
      <Group align="flex-end" gap="xs">
        <Autocomplete label={t.act} value={act} onChange={setAct} data={acts} size="md" flex={1} />
        <Do
          whyNot={whyNot || (act ? '' : t.needName)}
          h={48}
          onClick={() => void send('manual/act', { act }, t.performSent(act))}
        >
          {t.perform}
        </Do>
      </Group>
      {records &&
        (recording ? (
          <Alert color="red" icon={<IconPlayerRecord aria-hidden />} title={t.recording(recording.act)}>
            <Group gap="xs">
              <Do whyNot={whyNot} h={48} onClick={() => record('stop', t.recordStop)}>
                {t.recordStop}
              </Do>
              <Do whyNot={whyNot} h={48} onClick={() => record('cancel', t.recordCancel)}>
                {t.recordCancel}
              </Do>
            </Group>
          </Alert>
        ) : (
          <Group align="flex-end" gap="xs">
            <TextInput
              label={t.recordName}
              placeholder={t.pointNameHelp}
              value={name}
              maxLength={63}
              size="md"
              flex={1}
              miw={180}
              onChange={(e) => setName(e.currentTarget.value)}
            />
            <Do whyNot={whyNot || (name ? '' : t.needName)} h={48} onClick={() => record('start', t.recordStart)}>
              {t.recordStart}
            </Do>
          </Group>
        ))}
    </Part>
  );
}
