import { links } from '../links';
import { LinkButton } from '../parts/button';
import { Empty } from '../parts/state';
import { useTitle } from '../parts/title';

export function NotFound() {
  useTitle('Not found');
  return (
    <>
      <h1 class="visually-hidden">Not found</h1>
      <Empty
        icon="help"
        title="There is no such page"
        actions={<LinkButton href={links.repositories()}>All repositories</LinkButton>}
      >
        The address may be mistyped, or the page has moved.
      </Empty>
    </>
  );
}
