import { EditorScreen } from './EditorScreen';

/** The editor of one story. */
export default function StoryEditor() {
  return <EditorScreen kind="story" />;
}
