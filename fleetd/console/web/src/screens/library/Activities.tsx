import { Library } from './Library';

/** The list of activities. */
export default function Activities() {
  return <Library kind="activity" />;
}
