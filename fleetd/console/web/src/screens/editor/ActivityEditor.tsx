import { EditorScreen } from './EditorScreen';

/** The editor of one activity. */
export default function ActivityEditor() {
  return <EditorScreen kind="activity" />;
}
