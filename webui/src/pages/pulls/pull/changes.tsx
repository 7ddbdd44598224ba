/** What a pull request changes, with the comments on each object. */

import { links } from '../../../links';
import type { DiffSource } from '../../../parts/diff/source';
import { Diff } from '../../../parts/diff/view';
import { useQuery } from '../../../parts/query';
import { useRepository } from '../../../parts/repository';
import { Notice, Problem } from '../../../parts/state';
import { countText } from '../../../parts/words';
import type { Pull } from '../reviews';
import { CommentBox, CommentCard, type Comments } from './comment';

interface ChangesProps {
  pull: Pull;
  source: DiffSource;
  version: number;
  comments: Comments;
}

export function Changes({ pull, source, version, comments }: ChangesProps) {
  const { id: repository } = useRepository();
  const [{ object }] = useQuery();
  const on = (path: string) => comments.data?.filter(comment => comment.path === path) ?? [];
  return (
    <section class="stack" aria-label="Changes">
      <Diff
        source={source}
        version={version}
        rowActions={({ path }) =>
          on(path).length > 0 && (
            <a class="badge" href={links.pullChange(repository, pull.id, path)}>
              {countText(on(path).length, 'comment')}
            </a>
          )
        }
        empty={
          <Notice>
            {pull.source_branch} has no changes that {pull.destination_branch} lacks.
          </Notice>
        }
      />
      {object && (
        <section class="stack" aria-label="Comments on this object">
          <Problem failure={comments.failure} retry={comments.reload} />
          {on(object).map(comment => (
            <CommentCard
              key={comment.id}
              pull={pull.id}
              comment={comment}
              onChange={comments.reload}
            />
          ))}
          <CommentBox key={object} pull={pull.id} path={object} onChange={comments.reload} />
        </section>
      )}
    </section>
  );
}
