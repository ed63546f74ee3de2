import { Library } from './Library';

/** The list of stories. */
export default function Stories() {
  return <Library kind="story" />;
}
