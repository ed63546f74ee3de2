import { Alert, Badge, Button, Collapse, Group, Stack, Text, Textarea, Tooltip } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconCheck, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';

import { api, data } from '../../../api/client';
import { problemOf } from '../../../api/problem';
import { texts } from '../../../text/language';
import { useAuthorsRobot } from '../names';
import { FieldLabel } from './FieldLabel';
import type { FieldProps } from './FieldProps';

const useConditionTexts = texts(
  {
    conditionKeys: 'What it may name',
    conditionExplain: (robot: string) => `Is it true on ${robot} now?`,
    conditionTrue: 'True now',
    conditionFalse: 'Not true now',
    conditionNoRobot: 'Choose a robot above to see whether it is true there now.',
    conditionAsking: 'Asking the robot…',
    conditionNever: 'Without a condition it starts only on request.',
    insertKey: (k: string) => `Insert ${k}`,
  },
  {
    conditionKeys: 'Was sie nennen darf',
    conditionExplain: (robot) => `Ist sie auf ${robot} jetzt wahr?`,
    conditionTrue: 'Jetzt wahr',
    conditionFalse: 'Jetzt nicht wahr',
    conditionNoRobot: 'Wählen Sie oben einen Roboter, um zu sehen, ob sie dort jetzt wahr ist.',
    conditionAsking: 'Der Roboter wird gefragt…',
    conditionNever: 'Ohne Bedingung beginnt sie nur auf Verlangen.',
    insertKey: (k) => `${k} einfügen`,
  },
  {
    conditionKeys: 'Ce qu’elle peut nommer',
    conditionExplain: (robot) => `Est-elle vraie sur ${robot} maintenant ?`,
    conditionTrue: 'Vraie maintenant',
    conditionFalse: 'Pas vraie maintenant',
    conditionNoRobot: 'Choisissez un robot plus haut pour voir si elle y est vraie maintenant.',
    conditionAsking: 'Le robot est interrogé…',
    conditionNever: 'Sans condition, elle ne commence que sur demande.',
    insertKey: (k) => `Insérer ${k}`,
  },
);

/** A condition, what it may name, and whether it is true on the chosen robot now and why not. */
export function ConditionField({ name, schema, value, disabled, onChange }: FieldProps) {
  const t = useConditionTexts();
  const text = typeof value === 'string' ? value : '';
  const input = useRef<HTMLTextAreaElement>(null);
  const [open, setOpen] = useState(false);
  const keys =
    useQuery({
      queryKey: ['condition-keys'],
      queryFn: async () => (await data(api.GET('/api/v1/conditions/keys'))).keys ?? [],
      staleTime: Infinity,
    }).data ?? [];
  const put = (key: string) => {
    const at = input.current?.selectionStart ?? text.length;
    onChange(text.slice(0, at) + key + text.slice(at));
    input.current?.focus();
  };
  return (
    <Stack gap={6}>
      <Textarea
        ref={input}
        label={<FieldLabel name={name} />}
        description={schema.description}
        autosize
        minRows={2}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        spellCheck={false}
        disabled={disabled}
        value={text}
        onChange={(e) => onChange(e.currentTarget.value || undefined)}
      />
      <Button
        size="compact-xs"
        variant="subtle"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        style={{ alignSelf: 'flex-start' }}
      >
        {t.conditionKeys}
      </Button>
      <Collapse expanded={open}>
        <Group gap={4}>
          {keys.map((k) => (
            <Tooltip key={k.name} label={`${k.type}: ${k.doc}`}>
              <Button
                size="compact-xs"
                variant="default"
                disabled={disabled}
                aria-label={t.insertKey(k.name)}
                onClick={() => put(k.name)}
              >
                {k.name}
              </Button>
            </Tooltip>
          ))}
        </Group>
      </Collapse>
      {text ? <Explanation condition={text} /> : <Text size="sm">{t.conditionNever}</Text>}
    </Stack>
  );
}

/** Asks the robot again when the condition changes, and every 5 s. */
function Explanation({ condition }: { condition: string }) {
  const t = useConditionTexts();
  const robot = useAuthorsRobot((s) => s.robot);
  const [asked] = useDebouncedValue(condition, 600);
  const answer = useQuery({
    queryKey: ['explain', robot, asked],
    enabled: robot !== '',
    refetchInterval: 5000,
    retry: false,
    gcTime: 0,
    queryFn: async () => {
      return data(
        api.GET('/api/v1/robots/{id}/explain', { params: { path: { id: robot }, query: { condition: asked } } }),
      );
    },
  });
  if (robot === '') return <Text size="sm">{t.conditionNoRobot}</Text>;
  const truth = answer.data?.true;
  return (
    <Stack gap={4} role="status">
      <Text size="sm" fw={500}>
        {t.conditionExplain(robot)}
      </Text>
      {answer.isPending && <Text size="sm">{t.conditionAsking}</Text>}
      {answer.isError && <Alert color="red">{problemOf(answer.error).message}</Alert>}
      {answer.data && (
        <>
          <Badge
            color={truth ? 'green' : 'gray'}
            variant="light"
            tt="none"
            leftSection={truth ? <IconCheck size={14} aria-hidden /> : <IconX size={14} aria-hidden />}
          >
            {truth ? t.conditionTrue : t.conditionFalse}
          </Badge>
          <Text size="sm" dir="auto">
            {answer.data.why}
          </Text>
        </>
      )}
    </Stack>
  );
}
