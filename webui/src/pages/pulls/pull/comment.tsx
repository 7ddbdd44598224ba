/** Comments on a pull request: each as a card, and the box to write one. */

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { answer, api } from '../../../api/client';
import { type Resource, useAction, useResource } from '../../../api/resource';
import { Button } from '../../../parts/button';
import { Confirm } from '../../../parts/dialog';
import { AreaField } from '../../../parts/field';
import { handleSubmit } from '../../../parts/form';
import { Guard } from '../../../parts/guard';
import { Markdown } from '../../../parts/markdown';
import { useRepository } from '../../../parts/repository';
import { Problem } from '../../../parts/state';
import { Time } from '../../../parts/time';
import { tell } from '../../../parts/toast';
import { type Comment, secondsOf } from '../reviews';

const COMMENTS = '/repositories/{repository}/pulls/{pull_request}/comments';
const PAGE = 1000;

export type Comments = Resource<Comment[]>;

/** Load all comments, the oldest first. */
export function useComments(repository: string, pull: string): Comments {
  return useResource(['comments', repository, pull], async signal => {
    const comments: Comment[] = [];
    let after = '';
    while (true) {
      const query = { after, amount: PAGE };
      const params = { path: { repository, pull_request: pull }, query };
      const { results, pagination } = await answer(api.GET(COMMENTS, { params, signal }));
      comments.push(...results);
      if (!pagination.has_more) return comments;
      after = pagination.next_offset;
    }
  });
}

export async function addComment(repository: string, pull: string, text: string, path?: string) {
  const params = { path: { repository, pull_request: pull } };
  await answer(api.POST(COMMENTS, { params, body: { text, path: path ?? null } }));
}

/** A text of a user below a line that says who and when. */
export function Said({ head, text }: { head: ComponentChildren; text: string }) {
  return (
    <article class="card">
      <div class="card-head small quiet">{head}</div>
      <div class="card-body">
        {text ? (
          <Guard key={text} told="This text cannot be shown.">
            <Markdown text={text} />
          </Guard>
        ) : (
          <span class="quiet">No description.</span>
        )}
      </div>
    </article>
  );
}

interface CommentProps {
  pull: string;
  comment: Comment;
  /** What the comment is about, if that is not clear from its place. */
  about?: ComponentChildren;
  onChange: () => void;
}

export function CommentCard({ pull, comment, about, onChange }: CommentProps) {
  const { id: repository } = useRepository();
  const { id, author, creation_date, text } = comment;
  const [isDeleting, setDeleting] = useState(false);
  return (
    <>
      <Said
        text={text}
        head={
          <>
            <span class="grow wrap-anywhere">
              <strong>{author}</strong> commented {about} <Time at={secondsOf(creation_date)} />
            </span>
            <Button
              isSmall
              kind="ghost"
              icon="trash"
              label={`Delete the comment of ${author}`}
              onClick={() => setDeleting(true)}
            />
          </>
        }
      />
      {isDeleting && (
        <Confirm
          title="Delete the comment?"
          action="Delete comment"
          onClose={() => setDeleting(false)}
          act={async () => {
            const path = { repository, pull_request: pull, comment: id };
            await answer(api.DELETE(`${COMMENTS}/{comment}`, { params: { path } }));
            tell('The comment was deleted.');
            onChange();
          }}
        >
          <p>It cannot be restored.</p>
        </Confirm>
      )}
    </>
  );
}

interface BoxProps {
  pull: string;
  /** The object that it is about. */
  path?: string;
  onChange: () => void;
}

export function CommentBox({ pull, path, onChange }: BoxProps) {
  const { id: repository } = useRepository();
  const [text, setText] = useState('');
  const { run, isBusy, failure } = useAction(async () => {
    await addComment(repository, pull, text, path);
    setText('');
    onChange();
  });
  return (
    <form class="form" onSubmit={handleSubmit(run)}>
      <AreaField
        label={path ? 'Comment on this object' : 'Comment'}
        hint="Markdown"
        value={text}
        onText={setText}
      />
      <Problem failure={failure} />
      <div class="actions">
        <Button type="submit" isBusy={isBusy} disabled={!text.trim()}>
          Comment
        </Button>
      </div>
    </form>
  );
}
