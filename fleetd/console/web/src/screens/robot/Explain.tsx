import { Code, Group, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';

import { verbLine } from '../../api/commandline';
import { texts } from '../../text/language';
import { ActionButton, useSend, useWhyNot } from './ActionButton';
import { usePage } from './page';

const useTexts = texts(
  {
    label: 'Ask the robot whether a condition is true now',
    hint: 'a condition such as people > 0 && battery > 0.3, or an activity',
    ask: 'Ask',
    first: 'write a condition first',
    sent: (condition: string) => `is this true: ${condition}`,
    true: 'It is true now.',
  },
  {
    label: 'Den Roboter fragen, ob eine Bedingung jetzt zutrifft',
    hint: 'eine Bedingung wie people > 0 && battery > 0.3, oder eine Aktivität',
    ask: 'Fragen',
    first: 'schreiben Sie zuerst eine Bedingung',
    sent: (condition: string) => `trifft das zu: ${condition}`,
    true: 'Sie trifft jetzt zu.',
  },
  {
    label: 'Demander au robot si une condition est vraie maintenant',
    hint: 'une condition telle que people > 0 && battery > 0.3, ou une activité',
    ask: 'Demander',
    first: 'écrivez d’abord une condition',
    sent: (condition) => `est-ce vrai : ${condition}`,
    true: 'C’est vrai maintenant.',
  },
);

/** Asks the robot to explain a condition (life/explain). */
export function Explain() {
  const t = useTexts();
  const { id } = usePage();
  const send = useSend();
  const whyNot = useWhyNot();
  const [condition, setCondition] = useState('');
  const [answer, setAnswer] = useState('');
  const ask = async () => {
    const sent = await send('life/explain', { condition }, t.sent(condition));
    setAnswer(sent.answer?.detail || sent.because || t.true);
  };
  return (
    <Stack gap={4}>
      <Group align="flex-end" gap="xs">
        <TextInput
          label={t.label}
          placeholder={t.hint}
          value={condition}
          maxLength={1024}
          flex={1}
          miw={180}
          dir="ltr"
          onChange={(e) => setCondition(e.currentTarget.value)}
          onKeyDown={(e) => {
            if (e.key === 'Enter' && condition && !whyNot) void ask();
          }}
        />
        <ActionButton
          whyNot={whyNot || (condition ? '' : t.first)}
          line={condition ? verbLine('life/explain', { condition }, [id]) : undefined}
          onClick={ask}
        >
          {t.ask}
        </ActionButton>
      </Group>
      {answer && (
        <Text size="sm" dir="auto" role="status">
          <Code>{answer}</Code>
        </Text>
      )}
    </Stack>
  );
}
