/** Tells why an operation failed; a hook that stopped it is linked to its run. */

import { Failure } from '../api/client';
import { links } from '../links';
import { LinkButton } from './button';
import { hookRefusal } from './hook-refusal';
import { Problem } from './state';

interface HookProblemProps {
  failure: Failure | undefined;
  repository: string;
}

export function HookProblem({ failure, repository }: HookProblemProps) {
  const refusal = failure?.status === 412 ? hookRefusal(failure.message) : undefined;
  return (
    <>
      <Problem failure={refusal ? new Failure(refusal.line, 412) : failure} />
      {refusal && (
        <LinkButton icon="action" href={links.run(repository, refusal.run)}>
          See why the hook stopped it
        </LinkButton>
      )}
    </>
  );
}
