/** The first steps in a fresh repository: a list that ticks itself, until it is done or dismissed. */

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { answer, api } from '../../api/client';
import { useResource } from '../../api/resource';
import { links } from '../../links';
import { Button } from '../../parts/button';
import { hasUncommitted } from '../../parts/diff/source';
import { Icon } from '../../parts/icon';
import { useRepository } from '../../parts/repository';
import { Skeleton } from '../../parts/state';
import { remember, remembered } from '../../parts/storage';
import styles from './steps.module.css';

/** What has been seen of a repository; a step that was done stays done when its trace is gone. */
interface Seen {
  branch?: string;
  hasChanged?: boolean;
  hasCommitted?: boolean;
  hasMerged?: boolean;
}

// The sample data are the second commit; a repository with more has users who know their way.
const FRESH_COMMITS = 2;

function keyOf(repository: string, what: 'seen' | 'dismissed'): string {
  return `first-steps ${repository} ${what}`;
}

/** Return what is done, by four small requests at most; nothing for a repository that is not fresh. */
async function look(
  repository: string,
  defaultBranch: string,
  signal: AbortSignal,
): Promise<Seen | undefined> {
  const before = remembered<Seen>(keyOf(repository, 'seen'));
  const commitsOf = (ref: string) =>
    answer(
      api.GET('/repositories/{repository}/refs/{ref}/commits', {
        params: { path: { repository, ref }, query: { amount: FRESH_COMMITS + 1 } },
        signal,
      }),
    ).then(({ results }) => results);
  const onDefault = await commitsOf(defaultBranch);
  if (!before && onDefault.length > FRESH_COMMITS) return undefined;

  const { results } = await answer(
    api.GET('/repositories/{repository}/branches', {
      params: { path: { repository }, query: { amount: 10 } },
      signal,
    }),
  );
  const branches = results.map(({ id }) => id).filter(id => id !== defaultBranch);
  const branch = branches.find(id => id === before?.branch) ?? branches[0];
  const seen: Seen = { ...before, branch: branch ?? before?.branch };
  if (branch && !seen.hasCommitted) {
    seen.hasCommitted = (await commitsOf(branch)).length > FRESH_COMMITS;
    seen.hasChanged ||= seen.hasCommitted || (await hasUncommitted(repository, branch, signal));
  }
  seen.hasMerged ||= onDefault.some(({ parents }) => parents.length > 1);
  remember(keyOf(repository, 'seen'), seen);
  return seen;
}

interface Step {
  text: string;
  hint: string;
  href: string;
  isDone: boolean;
}

function stepsOf(repository: string, main: string, seen: Seen): Step[] {
  const branch = seen.branch ?? main;
  const { hasChanged = false, hasCommitted = false, hasMerged = false } = seen;
  const compare = links.compare(repository, main, branch);
  return [
    {
      text: 'Create a branch',
      hint: 'All objects at once, without a copy.',
      href: links.branches(repository),
      isDone: Boolean(seen.branch),
    },
    {
      text: 'Change an object',
      hint: `Upload or delete one on your branch; ${main} stays as it is.`,
      href: links.objects(repository, branch),
      isDone: hasChanged,
    },
    {
      text: 'See the change',
      hint: 'What differs from the last commit.',
      href: links.changes(repository, branch),
      isDone: hasChanged,
    },
    {
      text: 'Commit',
      hint: 'Keeps this version for ever, with your message.',
      href: links.changes(repository, branch),
      isDone: hasCommitted,
    },
    {
      text: 'Compare',
      hint: `What a merge would change on ${main}.`,
      href: compare,
      isDone: hasMerged,
    },
    {
      text: 'Merge',
      hint: `${main} gets all changes at once.`,
      href: compare,
      isDone: hasMerged,
    },
  ];
}

interface FirstStepsProps {
  /** A higher number looks again at what is done. */
  version?: number;
  /** Opens the dialog that creates a branch, where the page has one. */
  onBranch?: () => void;
  /** What is below the steps. It waits until they are known, so that it never moves. */
  children?: ComponentChildren;
}

/** Shown in a fresh repository only. Without an answer of the server, it stays hidden. */
export function FirstSteps({ version = 0, onBranch, children }: FirstStepsProps) {
  const { id: repository, default_branch, read_only } = useRepository();
  const [isDismissed, setDismissed] = useState(
    () => remembered(keyOf(repository, 'dismissed')) !== undefined || read_only,
  );
  const {
    data: seen,
    isLoading,
    reload,
  } = useResource(['first-steps', repository, isDismissed], async signal =>
    isDismissed ? undefined : look(repository, default_branch, signal),
  );
  useEffect(() => {
    if (version) reload();
  }, [version]);
  if (!isDismissed && !seen && isLoading) return children ? <Skeleton /> : null;
  const dismiss = () => {
    remember(keyOf(repository, 'dismissed'), 'yes');
    setDismissed(true);
  };
  return (
    <>
      {!isDismissed && seen && <Steps {...{ seen, onBranch }} onDismiss={dismiss} />}
      {children}
    </>
  );
}

interface StepsProps {
  seen: Seen;
  onBranch: (() => void) | undefined;
  onDismiss: () => void;
}

function Steps({ seen, onBranch, onDismiss }: StepsProps) {
  const { id: repository, default_branch } = useRepository();
  const steps = stepsOf(repository, default_branch, seen);
  const next = steps.findIndex(({ isDone }) => !isDone);
  return (
    <section class={`card ${styles.steps}`} aria-labelledby="first-steps">
      <div class="card-head">
        <h2 class="grow" id="first-steps">
          {next < 0 ? 'You have done all first steps' : 'First steps'}
        </h2>
        <Button kind="ghost" isSmall icon="close" label="Dismiss first steps" onClick={onDismiss} />
      </div>
      <ol class="card-body">
        {steps.map((step, index) => (
          <li
            key={step.text}
            class={step.isDone ? styles.done : index === next ? styles.next : undefined}
          >
            <span class={styles.mark}>
              {step.isDone ? <Icon name="check" label="Done" /> : <span>{index + 1}</span>}
            </span>
            <div>
              {index === 0 && onBranch ? (
                <button type="button" class="link" onClick={onBranch}>
                  {step.text}
                </button>
              ) : (
                <a href={step.href} aria-current={index === next ? 'step' : undefined}>
                  {step.text}
                </a>
              )}
              <div class="small quiet">{step.hint}</div>
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}
