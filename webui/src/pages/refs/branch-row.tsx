/** One branch in the list: its last commit, its protection, and what can be done with it. */

import { answer, api, type Schemas } from '../../api/client';
import { useAction } from '../../api/resource';
import { links } from '../../links';
import { matchesGlob } from '../../parts/glob';
import { Icon } from '../../parts/icon';
import { Menu } from '../../parts/menu';
import { RowCheck, type Selection } from '../../parts/selection';
import { tell } from '../../parts/toast';
import styles from './branch-row.module.css';
import { DistanceBadge, LastCommit, SameBadge } from './last-commit';

/** What the rows share. */
export interface Shared {
  repository: string;
  defaultBranch: string;
  isReadOnly: boolean;
  /** The globs of the protection rules. */
  rules: readonly string[];
  /** The default branch's head, if distances are to be shown. */
  head: string | undefined;
  onRules: () => void;
  onCreate: (kind: 'branch' | 'tag', source: string) => void;
  onDelete: (name: string) => void;
}

interface RowProps {
  branch: Schemas['BranchRow'];
  shared: Shared;
  selection: Selection;
}

export function BranchRow({ branch, shared, selection }: RowProps) {
  const { repository, defaultBranch, head } = shared;
  const name = branch.id;
  const isDefault = name === defaultBranch;
  const rule = shared.rules.find(pattern => matchesGlob(pattern, name));
  return (
    <>
      <RowCheck {...{ name, selection }} reason={undeletable(isDefault, rule)} />
      <div class={`grow bar ${styles.name}`}>
        <a class="strong cut" href={links.objects(repository, name)} title={name}>
          {name}
        </a>
        {isDefault && <span class="badge">Default</span>}
        {rule !== undefined && (
          <span class="badge indigo" title={`Protected by the rule ${rule}`}>
            <Icon name="lock" label="Protected" />
            <span class="wide-only">Protected</span>
          </span>
        )}
        {head &&
          !isDefault &&
          (branch.commit_id === head ? (
            <SameBadge name={defaultBranch} />
          ) : (
            <DistanceBadge
              {...{ repository, commit: branch.commit_id, from: head, name: defaultBranch }}
            />
          ))}
      </div>
      <LastCommit repository={repository} commit={branch.commit} />
      <BranchMenu {...{ name, shared, rule }} />
    </>
  );
}

/** Why the branch cannot be deleted. */
function undeletable(isDefault: boolean, rule: string | undefined): string | undefined {
  if (isDefault) return 'The default branch cannot be deleted';
  return rule === undefined ? undefined : 'A protected branch cannot be deleted';
}

function BranchMenu({ name, shared, rule }: { name: string; shared: Shared; rule?: string }) {
  const { repository, defaultBranch, isReadOnly } = shared;
  const isDefault = name === defaultBranch;
  return (
    <Menu label={`Actions of ${name}`} isSmall>
      <a href={links.objects(repository, name)}>
        <Icon name="folder" /> Browse
      </a>
      <a href={links.changes(repository, name)}>
        <Icon name="changes" /> Uncommitted changes
      </a>
      <a href={links.commits(repository, name)}>
        <Icon name="commit" /> Commits
      </a>
      {!isDefault && (
        <>
          <a href={links.compare(repository, defaultBranch, name)}>
            <Icon name="compare" /> Compare to {defaultBranch}
          </a>
          <a href={links.newPull(repository, name, defaultBranch)}>
            <Icon name="pull" /> Open pull request
          </a>
        </>
      )}
      <hr />
      <button type="button" disabled={isReadOnly} onClick={() => shared.onCreate('branch', name)}>
        <Icon name="branch" /> Create branch from it
      </button>
      <button type="button" disabled={isReadOnly} onClick={() => shared.onCreate('tag', name)}>
        <Icon name="tag" /> Create tag
      </button>
      <Protection {...{ name, shared, rule }} />
      {!isDefault && (
        <button
          type="button"
          class="danger"
          disabled={isReadOnly || rule !== undefined}
          title={undeletable(isDefault, rule)}
          onClick={() => shared.onDelete(name)}
        >
          <Icon name="trash" /> Delete
        </button>
      )}
    </Menu>
  );
}

/** Adds or removes the rule that is the branch's exact name; a wider rule is changed in the settings. */
function Protection({ name, shared, rule }: { name: string; shared: Shared; rule?: string }) {
  const { repository, rules, onRules } = shared;
  const hasOwn = rules.includes(name);
  const { run, failure, isBusy } = useAction(async () => {
    const params = { path: { repository } };
    const address = '/repositories/{repository}/branch_protection';
    const body = { pattern: name };
    if (hasOwn) await answer(api.DELETE(address, { params, body }));
    else await answer(api.POST(address, { params, body }));
    tell(hasOwn ? `The rule ${name} was removed.` : `Branch ${name} is protected.`);
    onRules();
  });
  if (rule !== undefined && !hasOwn)
    return (
      <a href={links.settings(repository, 'branches')}>
        <Icon name="lock" /> Protected by rule {rule}
      </a>
    );
  return (
    <>
      <button
        type="button"
        disabled={isBusy}
        onClick={event => {
          // The menu stays open until the server has answered, so that it can show a refusal.
          event.stopPropagation();
          run();
        }}
      >
        <Icon name="lock" /> {hasOwn ? 'Remove protection' : 'Protect'}
      </button>
      {failure && (
        <p class={`small ${styles.refusal}`} role="alert">
          {failure.message}
        </p>
      )}
    </>
  );
}
