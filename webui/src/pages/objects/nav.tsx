/** From an object, or a folder, to its history and back. */

import type { Place } from '../../api/objects';
import { links } from '../../links';
import { Nav } from '../../parts/nav';

interface ObjectNavProps {
  place: Place;
  here: 'content' | 'history';
}

export function ObjectNav({ place: { repository, ref, path }, here }: ObjectNavProps) {
  const isFolder = !path || path.endsWith('/');
  return (
    <Nav
      label="Object"
      look="tabs"
      links={[
        {
          text: isFolder ? 'Objects' : 'Preview',
          icon: isFolder ? 'folder' : 'eye',
          href: (isFolder ? links.objects : links.object)(repository, ref, path),
          isHere: here === 'content',
        },
        {
          text: 'History',
          icon: 'history',
          href: links.history(repository, ref, path),
          isHere: here === 'history',
        },
      ]}
    />
  );
}
