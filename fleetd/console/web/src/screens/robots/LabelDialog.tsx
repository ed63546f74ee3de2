import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';

import type { BulkAction } from './bulkRequest';
import { BulkDialog } from './BulkDialog';
import { useBulkTexts } from './bulkText';
import type { Selector } from './filter';
import { useRobotsTexts } from './text';

const keyForm = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** Asks for a label to set or to remove, then shows what that would change. */
export function LabelDialog({ selector, name, onClose }: { selector: Selector; name: string; onClose: () => void }) {
  const t = useBulkTexts();
  const words = useRobotsTexts();
  const [key, setKey] = useState('');
  const [value, setValue] = useState('');
  const [action, setAction] = useState<BulkAction>();
  if (action)
    return <BulkDialog action={action} selector={selector} name={`${name}: ${key}=${value}`} onClose={onClose} />;
  return (
    <Modal opened onClose={onClose} title={t.label} closeButtonProps={{ 'aria-label': words.close }}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          setAction({ kind: 'label', set: value ? { [key]: value } : {}, unset: value ? [] : [key] });
        }}
      >
        <Stack>
          <TextInput
            label={t.labelKey}
            description={t.labelKeyHelp}
            value={key}
            required
            data-autofocus
            maxLength={63}
            error={key && !keyForm.test(key) ? t.labelKeyHelp : undefined}
            onChange={(e) => setKey(e.currentTarget.value)}
          />
          <TextInput
            label={t.labelValue}
            description={t.labelValueHelp}
            value={value}
            maxLength={63}
            onChange={(e) => setValue(e.currentTarget.value)}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t.cancel}
            </Button>
            <Button type="submit" disabled={!keyForm.test(key)}>
              {t.check}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
