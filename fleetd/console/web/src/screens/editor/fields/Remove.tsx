import { ActionIcon } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';

import { useEditorTexts } from '../text';

/** An object without one of its entries, or nothing if that was the last: an empty field is left out of the draft. */
export const without = <T,>(v: Record<string, T>, key: string) => {
  const { [key]: _, ...rest } = v;
  return Object.keys(rest).length > 0 ? rest : undefined;
};

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
