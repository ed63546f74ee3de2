import { Modal } from '@mantine/core';

export function ImportDialog({ onClose }: { onClose: () => void }) {
  return <Modal opened onClose={onClose} />;
}
