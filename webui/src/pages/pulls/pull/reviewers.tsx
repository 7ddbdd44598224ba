/** Who was asked for a review and what everybody says, with a way to ask others. */

import { useState } from 'preact/hooks';
import { useAction } from '../../../api/resource';
import { Button } from '../../../parts/button';
import { useRepository } from '../../../parts/repository';
import { Problem } from '../../../parts/state';
import { AddReviewer, requireUser } from '../add-reviewer';
import { type Pull, reviewersOf } from '../reviews';
import { OpinionBadge } from '../status';
import { changePull } from './change';

export function Reviewers({ pull, reload }: { pull: Pull; reload: () => void }) {
  const { id: repository, read_only } = useRepository();
  const asked = pull.reviewers ?? [];
  const [typed, setTyped] = useState('');
  const { run, isBusy, failure } = useAction(async (reviewers: string[], added?: string) => {
    if (added) await requireUser(added);
    await changePull(repository, pull.id, { reviewers });
    if (added) setTyped('');
    reload();
  });
  return (
    <section class="card" aria-labelledby="reviewers">
      <h2 id="reviewers" class="card-head">
        Reviewers
      </h2>
      <div class="card-body stack tight">
        <ul class="stack tight" aria-labelledby="reviewers">
          {reviewersOf(pull).map(({ user, opinion, isAsked }) => (
            <li class="bar" key={user}>
              <div class="grow wrap-anywhere">
                {user}
                <div>
                  <OpinionBadge opinion={opinion} />
                </div>
              </div>
              {isAsked && (
                <Button
                  isSmall
                  kind="ghost"
                  icon="close"
                  label={`Do not ask ${user}`}
                  disabled={read_only || isBusy}
                  onClick={() => run(asked.filter(each => each !== user))}
                />
              )}
            </li>
          ))}
        </ul>
        <AddReviewer
          name={typed}
          onName={setTyped}
          isBusy={isBusy}
          disabled={read_only}
          onAdd={user => run([...asked, user], user)}
        />
        <Problem failure={failure} />
      </div>
    </section>
  );
}
