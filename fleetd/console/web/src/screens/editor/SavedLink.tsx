import type { ComponentProps } from 'react';
import { Link, useNavigate } from 'react-router';

import type { Editor } from './useEditor';

/** A link out of an editor that saves the draft first, and stays if it cannot be saved. */
export function SavedLink({ editor, ...props }: ComponentProps<typeof Link> & { editor: Editor }) {
  const navigate = useNavigate();
  return (
    <Link
      {...props}
      onClick={(e) => {
        if (!editor.mayEdit || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
        e.preventDefault();
        void editor.flush().then((saved) => saved && navigate(props.to));
      }}
    />
  );
}
