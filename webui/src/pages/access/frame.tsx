/** Who may do what, and who did: keys, users, groups, policies, why something is allowed, the audit. */

import { useLocation } from 'preact-iso';
import { decoded, links } from '../../links';
import { Nav } from '../../parts/nav';
import { useTitle } from '../../parts/title';
import { NotFound } from '../../shell/not-found';
import { Audit } from './audit';
import { Credentials } from './credentials';
import { Explainer } from './explainer';
import { GroupPage, Groups } from './groups';
import { Policies } from './policies';
import { PolicyPage } from './policy';
import { UserPage } from './user';
import { Users } from './users';

const ROOMS = [
  { room: 'credentials', text: 'My access keys', href: links.credentials(), list: Credentials },
  { room: 'users', text: 'Users', href: links.users(), list: Users, page: UserPage },
  { room: 'groups', text: 'Groups', href: links.groups(), list: Groups, page: GroupPage },
  { room: 'policies', text: 'Policies', href: links.policies(), list: Policies, page: PolicyPage },
  { room: 'access', text: 'Access explainer', href: links.access(), list: Explainer },
  { room: 'audit', text: 'Audit', href: links.audit(), list: Audit },
];

export default function AccessFrame() {
  const [, , room = '', name = ''] = useLocation().path.split('/');
  const id = decoded(name);
  const current = ROOMS.find(each => each.room === room);
  useTitle(id || '', current?.text ?? 'Access');
  const List = current?.list;
  const Page = current?.page;
  return (
    <main id="main" tabIndex={-1}>
      <div class="two-columns">
        <Nav
          label="Access"
          look="side-nav"
          links={ROOMS.map(({ text, href, ...each }) => ({
            text,
            href,
            isHere: each.room === room,
          }))}
        />
        <div>
          {!name && List && <List />}
          {id && Page && <Page key={id} id={id} />}
          {(name ? !id || !Page : !List) && <NotFound />}
        </div>
      </div>
    </main>
  );
}
