import { RefsPage } from './list';

export default function Tags() {
  return <RefsPage kind="tag" />;
}
