/** The dialog of a review: a verdict on the commit that was shown, perhaps with a comment. */

import { useState } from 'preact/hooks';
import { answer, api } from '../../../api/client';
import { useAction } from '../../../api/resource';
import { links } from '../../../links';
import { Button } from '../../../parts/button';
import { Dialog } from '../../../parts/dialog';
import { AreaField } from '../../../parts/field';
import { useRepository } from '../../../parts/repository';
import { ifUnmoved, isMoved } from '../../../parts/seen';
import { Problem } from '../../../parts/state';
import { tell } from '../../../parts/toast';
import { shortId } from '../../../parts/words';
import type { Pull } from '../reviews';
import { addComment } from './comment';

interface ReviewProps {
  pull: Pull;
  /** The source's head that was shown. */
  commit: string;
  /** Show the commits as they are now. */
  onLook: () => void;
  onDone: () => void;
  onClose: () => void;
}

export function ReviewDialog({ pull, commit, onLook, onDone, onClose }: ReviewProps) {
  const { id: repository } = useRepository();
  const [text, setText] = useState('');
  const { run, isBusy, failure } = useAction(async (verdict: 'approved' | 'changes_requested') => {
    const params = { path: { repository, pull_request: pull.id } };
    const review = api.PUT('/repositories/{repository}/pulls/{pull_request}/review', {
      params,
      body: { verdict, commit_id: commit },
    });
    await ifUnmoved(answer(review));
    if (text.trim()) await addComment(repository, pull.id, text);
    tell(verdict === 'approved' ? 'You approved.' : 'You requested changes.');
    onDone();
    onClose();
  });
  return (
    <Dialog title={`Review ${pull.source_branch}`} onClose={onClose}>
      <div class="form">
        <p class="quiet">
          Your review is of commit{' '}
          <a class="mono" href={links.commit(repository, commit)}>
            {shortId(commit)}
          </a>
          . A later commit needs another review.
        </p>
        <AreaField
          label="Comment"
          hint="Optional. Markdown"
          value={text}
          onText={setText}
          autofocus
        />
        <Problem
          failure={failure}
          action="Look again"
          retry={
            isMoved(failure)
              ? () => {
                  onLook();
                  onClose();
                }
              : undefined
          }
        />
        <div class="actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button icon="close" isBusy={isBusy} onClick={() => run('changes_requested')}>
            Request changes
          </Button>
          <Button kind="primary" icon="check" isBusy={isBusy} onClick={() => run('approved')}>
            Approve
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
