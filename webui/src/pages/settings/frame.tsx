/** The settings of a repository: a list of rooms at the side, one room beside it. */

import { useLocation } from 'preact-iso';
import { links } from '../../links';
import { Nav } from '../../parts/nav';
import { useRepository } from '../../parts/repository';
import { useTitle } from '../../parts/title';
import { NotFound } from '../../shell/not-found';
import { Export } from './export';
import { General } from './general';
import { Protection } from './protection';
import { Retention } from './retention';

const ROOMS = [
  { room: 'general', text: 'General', component: General },
  { room: 'retention', text: 'Retention', component: Retention },
  { room: 'branches', text: 'Branch protection', component: Protection },
  { room: 'export', text: 'Continuous export', component: Export },
] as const;

export default function SettingsFrame() {
  const { id } = useRepository();
  const { path } = useLocation();
  const here = path.split('/')[4] || 'general';
  const current = ROOMS.find(({ room }) => room === here);
  useTitle(current?.text ?? 'Settings', id);
  return (
    <div class="two-columns">
      <Nav
        label="Settings"
        look="side-nav"
        links={ROOMS.map(({ room, text }) => ({
          text,
          href: links.settings(id, room),
          isHere: room === here,
        }))}
      />
      <div>{current ? <current.component /> : <NotFound />}</div>
    </div>
  );
}
