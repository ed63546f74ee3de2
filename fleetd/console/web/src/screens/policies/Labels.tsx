import { Checkbox, Stack, TagsInput } from '@mantine/core';
import { useMemo } from 'react';

import { useRobots } from '../../live/robots';
import { areLabels, labelsOf } from './labels';
import { usePoliciesTexts } from './text';

interface Props {
  /** What a person has to know about it. */
  help: string;
  all: boolean;
  labels: string[];
  onChange: (all: boolean, labels: string[]) => void;
}

/** Robots by their labels, also those that join later. */
export function Labels({ help, all, labels, onChange }: Props) {
  const t = usePoliciesTexts();
  const fleet = useRobots();
  const known = useMemo(() => labelsOf(fleet), [fleet]);
  return (
    <Stack gap="sm">
      <Checkbox label={t.all} checked={all} onChange={(e) => onChange(e.currentTarget.checked, labels)} />
      <TagsInput
        label={t.labels}
        description={help}
        placeholder={labels.length === 0 ? t.labelsHint : undefined}
        disabled={all}
        value={labels}
        data={known.filter((l) => !labels.includes(l))}
        error={!all && !areLabels(labels) ? t.badLabel : undefined}
        acceptValueOnBlur
        dir="ltr"
        onChange={(l) => onChange(all, l)}
      />
    </Stack>
  );
}
