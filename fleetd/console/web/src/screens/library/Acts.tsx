import { Library } from './Library';

/** The list of acts. */
export default function Acts() {
  return <Library kind="act" />;
}
