import { FileButton, Button, Paper, Stack, Text } from '@mantine/core';
import { IconFileUpload } from '@tabler/icons-react';
import { type DragEvent, useState } from 'react';

interface Props {
  /** What may be chosen, as an input has it: .csv,.zip */
  accept: string;
  label: string;
  button: string;
  name?: string;
  disabled?: boolean;
  multiple?: boolean;
  onFiles: (files: File[]) => void;
}

/** A place to drop files, with a plain input beside it. */
export function FileInput({ accept, label, button, name, disabled, multiple, onFiles }: Props) {
  const [over, setOver] = useState(false);
  const onDrop = (e: DragEvent) => {
    e.preventDefault();
    setOver(false);
    const files = [...e.dataTransfer.files];
    if (!disabled && files.length > 0) onFiles(multiple ? files : files.slice(0, 1));
  };
  const take = (chosen: File | File[] | null) => {
    const files = Array.isArray(chosen) ? chosen : chosen ? [chosen] : [];
    if (files.length > 0) onFiles(files);
  };
  return (
    <Paper
      withBorder
      p="md"
      bg={over ? 'var(--mantine-color-default-hover)' : undefined}
      style={{ borderStyle: 'dashed' }}
      onDragOver={(e) => {
        e.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      <Stack align="center" gap="xs">
        <Text size="sm" dir="auto">
          {name ?? label}
        </Text>
        <FileButton
          accept={accept}
          multiple={multiple}
          disabled={disabled}
          onChange={take}
          inputProps={{ 'aria-label': button }}
        >
          {(props) => (
            <Button
              {...props}
              variant="default"
              disabled={disabled}
              leftSection={<IconFileUpload size={18} aria-hidden />}
            >
              {button}
            </Button>
          )}
        </FileButton>
      </Stack>
    </Paper>
  );
}
