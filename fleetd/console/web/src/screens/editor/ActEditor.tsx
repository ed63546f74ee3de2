import { EditorScreen } from './EditorScreen';

/** The editor of one act. */
export default function ActEditor() {
  return <EditorScreen kind="act" />;
}
