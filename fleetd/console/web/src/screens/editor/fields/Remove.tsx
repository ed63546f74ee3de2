import { ActionIcon } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';

import { useEditorTexts } from '../text';

/** An object, or nothing if it is empty: an empty field is left out of the draft. */
export const orNothing = <T extends object>(v: T) => (Object.keys(v).length > 0 ? v : undefined);

/** Removes one entry of a field. */
export function Remove({ what, disabled, onClick }: { what: string; disabled: boolean; onClick: () => void }) {
  const t = useEditorTexts();
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size={32}
      disabled={disabled}
      aria-label={t.removeOne(what)}
      onClick={onClick}
    >
      <IconTrash size={16} aria-hidden />
    </ActionIcon>
  );
}
