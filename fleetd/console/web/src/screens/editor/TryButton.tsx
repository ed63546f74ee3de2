import { Button } from '@mantine/core';
import { IconRobot } from '@tabler/icons-react';
import { useState } from 'react';

import { useLanguage } from '../../text/language';
import { type Multilingual, textIn } from '../../text/multilingual';
import { useEditorTexts } from './text';
import { TryDialog } from './TryDialog';
import type { Editor } from './useEditor';

/** Opens the dialog that performs the draft on a robot, once it is saved. */
export function TryButton({ editor }: { editor: Editor }) {
  const t = useEditorTexts();
  const language = useLanguage((s) => s.language);
  const [open, setOpen] = useState(false);
  const name = textIn((editor.doc.head.name ?? {}) as Multilingual, language)?.text || editor.id;
  const ask = async () => {
    if (editor.mayEdit && !(await editor.flush())) return;
    setOpen(true);
  };
  return (
    <>
      <Button variant="default" leftSection={<IconRobot size={18} aria-hidden />} onClick={() => void ask()}>
        {t.tryOut}
      </Button>
      {open && <TryDialog editor={editor} name={name} onClose={() => setOpen(false)} />}
    </>
  );
}
