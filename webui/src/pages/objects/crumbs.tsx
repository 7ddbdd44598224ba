/** The way from the repository's root to a path; each step is a link. */

import { links } from '../../links';
import { CopyButton } from '../../parts/button';
import { visible } from '../../parts/words';

interface CrumbsProps {
  repository: string;
  at: string;
  path: string;
}

export function Crumbs({ repository, at, path }: CrumbsProps) {
  const steps = path.split('/').filter((step, index, all) => step || index < all.length - 1);
  return (
    <nav class="bar" aria-label="Path">
      <ol class="crumbs">
        <li>
          <a class="strong" href={links.objects(repository, at)}>
            {repository}
          </a>
        </li>
        {steps.map((step, index) => {
          const isLast = index === steps.length - 1;
          const to = `${steps.slice(0, index + 1).join('/')}/`;
          return (
            <li key={to}>
              {isLast ? (
                <span class="strong wrap-anywhere" aria-current="page">
                  {visible(step) || '(empty name)'}
                </span>
              ) : (
                <a class="wrap-anywhere" href={links.objects(repository, at, to)}>
                  {visible(step) || '(empty name)'}
                </a>
              )}
            </li>
          );
        })}
      </ol>
      <CopyButton text={`lakefs://${repository}/${at}/${path}`} label="Copy lakefs:// address" />
    </nav>
  );
}
