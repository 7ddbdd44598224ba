import { RefsPage } from './list';

export default function Branches() {
  return <RefsPage kind="branch" />;
}
