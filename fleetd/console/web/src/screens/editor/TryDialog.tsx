import { Modal } from '@mantine/core';

import type { Editor } from './useEditor';

export function TryDialog({ onClose }: { editor: Editor; onClose: () => void }) {
  return <Modal opened onClose={onClose} />;
}
