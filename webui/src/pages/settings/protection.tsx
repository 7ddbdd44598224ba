/** Branch protection: rules, and the branches that each of them covers. */

import { useState } from 'preact/hooks';
import { apiRead } from '../../api/cache';
import { answer, api, type Schemas } from '../../api/client';
import { useAction, useAllPages, usePages, useResource } from '../../api/resource';
import { Badge } from '../../parts/badge';
import { Button } from '../../parts/button';
import { Confirm } from '../../parts/dialog';
import { TextField } from '../../parts/field';
import { handleSubmit } from '../../parts/form';
import { matchesGlob } from '../../parts/glob';
import { Icon } from '../../parts/icon';
import { useRepository } from '../../parts/repository';
import { ifUnchanged, readSetting } from '../../parts/seen';
import { Empty, Problem, Skeleton } from '../../parts/state';
import { tell } from '../../parts/toast';
import { countText, integerText } from '../../parts/words';

type Rule = Schemas['ProtectionRuleRow'];

const RULES = '/repositories/{repository}/settings/branch_protection';
const PAGE = 1000;
const BRANCHES_SHOWN = 8;
const APPROVALS_MAX = 100;
const NO_RULE: Rule = { pattern: '', required_approvals: 0 };

/** Return the rules with this one in place of that of its pattern. */
function withRule(rules: readonly Rule[], rule: Rule): Rule[] {
  const isNew = rules.every(({ pattern }) => pattern !== rule.pattern);
  const changed = rules.map(each => (each.pattern === rule.pattern ? rule : each));
  return isNew ? [...changed, rule] : changed;
}

export function Protection() {
  const { id: repository, read_only } = useRepository();
  const path = { repository };
  const loaded = useResource(['protection', repository], signal =>
    readSetting(api.GET(RULES, { params: { path }, signal })),
  );
  const branches = usePages(after =>
    apiRead('/repositories/{repository}/branches', { path, query: { after, amount: PAGE } }),
  );
  useAllPages(branches);
  const [deleting, setDeleting] = useState<string>();
  const [draft, setDraft] = useState(NO_RULE);
  const { data } = loaded;
  const names = branches.items.map(({ id }) => id);
  const { hasMore } = branches;
  const save = async (rules: Rule[]) => {
    const header = { 'If-Match': data?.version };
    const change = answer(api.PUT(RULES, { params: { path, header }, body: rules }));
    await ifUnchanged('the rules', change, loaded.reload);
    loaded.reload();
  };
  return (
    <div class="stack loose">
      <div class="page-head">
        <div class="titles">
          <h1>Branch protection</h1>
          <p>
            Nobody writes or commits to a protected branch directly. It changes by merging other
            branches into it. If approvals are required, only a pull request with so many of them
            merges.
          </p>
        </div>
      </div>
      <Problem failure={loaded.failure} retry={loaded.reload} />
      <Problem failure={branches.failure} retry={branches.more} />
      {!data && !loaded.failure && <Skeleton lines={3} />}
      {data?.setting.length === 0 && (
        <Empty icon="lock" title="No branch is protected">
          Add the pattern <code>main</code> below, and changes of <code>main</code> have to be
          merged.
        </Empty>
      )}
      {data && data.setting.length > 0 && (
        <RuleList
          {...{ names, hasMore }}
          rules={data.setting}
          isReadOnly={read_only}
          onEdit={setDraft}
          onDelete={setDeleting}
        />
      )}
      {data && (
        <RuleForm
          {...{ names, hasMore, draft }}
          onDraft={setDraft}
          isChange={data.setting.some(({ pattern }) => pattern === draft.pattern)}
          isReadOnly={read_only}
          act={rule => save(withRule(data.setting, rule))}
        />
      )}
      {data && deleting !== undefined && (
        <DeleteRule
          {...{ names, hasMore }}
          pattern={deleting}
          act={() => save(data.setting.filter(({ pattern }) => pattern !== deleting))}
          onClose={() => setDeleting(undefined)}
        />
      )}
    </div>
  );
}

interface RuleListProps extends Omit<CoveredProps, 'pattern'> {
  rules: Rule[];
  isReadOnly: boolean;
  onEdit: (rule: Rule) => void;
  onDelete: (pattern: string) => void;
}

function RuleList({ rules, isReadOnly, onEdit, onDelete, ...covered }: RuleListProps) {
  return (
    <ul class="rows" aria-label="Rules">
      {rules.map(({ pattern, required_approvals = 0 }) => (
        <li class="row roomy" key={pattern}>
          <Icon name="lock" />
          <div class="grow">
            <code>{pattern}</code>
            <Covered pattern={pattern} {...covered} />
          </div>
          {required_approvals > 0 && (
            <Badge>{countText(required_approvals, 'approval')} required</Badge>
          )}
          <Button
            isSmall
            kind="ghost"
            icon="edit"
            label={`Edit the rule ${pattern}`}
            disabled={isReadOnly}
            onClick={() => onEdit({ pattern, required_approvals })}
          />
          <Button
            isSmall
            kind="ghost"
            icon="trash"
            label={`Delete the rule ${pattern}`}
            disabled={isReadOnly}
            onClick={() => onDelete(pattern)}
          />
        </li>
      ))}
    </ul>
  );
}

interface CoveredProps {
  pattern: string;
  names: string[];
  /** Whether branches are still to be loaded. */
  hasMore: boolean;
}

/** Tells which branches the pattern covers now. */
function Covered({ pattern, names, hasMore }: CoveredProps) {
  const matching = names.filter(name => matchesGlob(pattern, name));
  const rest = matching.length - BRANCHES_SHOWN;
  const more = rest > 0 ? ` and ${rest} more` : '';
  if (hasMore && !names.length) return <div class="small quiet">Looking through the branches…</div>;
  const scope = hasMore ? ` (of ${integerText(names.length)} branches so far…)` : '';
  return (
    <div class="small quiet wrap-anywhere">
      {matching.length
        ? `${countText(matching.length, 'branch', 'branches')}: ${matching.slice(0, BRANCHES_SHOWN).join(', ')}${more}`
        : 'No branch of today; it covers new ones of that name'}
      {scope}
    </div>
  );
}

interface DeleteProps extends CoveredProps {
  act: () => Promise<void>;
  onClose: () => void;
}

function DeleteRule({ act, onClose, ...covered }: DeleteProps) {
  const { pattern } = covered;
  return (
    <Confirm
      title={`Delete the rule ${pattern}?`}
      action="Delete rule"
      onClose={onClose}
      act={async () => {
        await act();
        tell(`The rule ${pattern} was deleted.`);
      }}
    >
      <p>Users may then write and commit directly, unless another rule covers the branch, to:</p>
      <Covered {...covered} />
    </Confirm>
  );
}

interface FormProps extends Omit<CoveredProps, 'pattern'> {
  draft: Rule;
  onDraft: (draft: Rule) => void;
  /** Whether there is a rule of the pattern. */
  isChange: boolean;
  isReadOnly: boolean;
  act: (rule: Rule) => Promise<void>;
}

function RuleForm({ draft, onDraft, isChange, isReadOnly, act, ...covered }: FormProps) {
  const { pattern, required_approvals } = draft;
  const { run, isBusy, failure } = useAction(async () => {
    await act(draft);
    tell(`Branches that match ${pattern} are protected.`);
    onDraft(NO_RULE);
  });
  return (
    <form class="form page" onSubmit={handleSubmit(run)}>
      <TextField
        label="Protect branches that match"
        value={pattern}
        onText={text => onDraft({ ...draft, pattern: text })}
        required
        hint={
          <>
            <code>*</code> is any text, <code>?</code> one character, <code>[a-z]</code> one of a
            set, <code>{'{main,release-*}'}</code> a choice. The whole name has to match.
          </>
        }
      />
      {pattern && <Covered pattern={pattern} {...covered} />}
      <TextField
        label="Required approvals"
        type="number"
        min={0}
        max={APPROVALS_MAX}
        required
        value={String(required_approvals)}
        onText={text => onDraft({ ...draft, required_approvals: Number(text) })}
        hint="How many other users must approve the last commit of a pull request. 0: no approval is needed."
      />
      <Problem failure={failure} />
      <div>
        <Button
          kind="primary"
          type="submit"
          isBusy={isBusy}
          disabled={isReadOnly}
          title={isReadOnly ? 'The repository is read-only.' : undefined}
        >
          {isChange ? 'Change the rule' : 'Protect'}
        </Button>
      </div>
    </form>
  );
}
