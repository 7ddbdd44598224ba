/** Tells why an operation failed; a hook that stopped it is linked to its run. */

import type { Failure } from '../api/client';
import { links } from '../links';
import { LinkButton } from './button';
import { Problem } from './state';

interface HookProblemProps {
  failure: Failure | undefined;
  repository: string;
}

export function HookProblem({ failure, repository }: HookProblemProps) {
  const run = failure?.status === 412 ? /run id '([^']+)'/.exec(failure.message)?.[1] : undefined;
  return (
    <>
      <Problem failure={failure} />
      {run && (
        <LinkButton icon="action" href={links.run(repository, run)}>
          See why the hook stopped it
        </LinkButton>
      )}
    </>
  );
}
