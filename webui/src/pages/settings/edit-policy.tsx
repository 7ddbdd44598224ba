/** The dialog that edits the retention policy, by a form or as JSON, and tells what changes. */

import { useState } from 'preact/hooks';
import { answer, api } from '../../api/client';
import { useAction, useResource } from '../../api/resource';
import { Button } from '../../parts/button';
import { FormDialog } from '../../parts/dialog';
import { AreaField, TextField } from '../../parts/field';
import { useRepository } from '../../parts/repository';
import { ifUnchanged } from '../../parts/seen';
import { useSettled } from '../../parts/settled';
import { Notice, Problem } from '../../parts/state';
import { tell } from '../../parts/toast';
import { type Policy, replacePolicy } from './policy';
import {
  changesOf,
  draftOf,
  EXAMPLE,
  isDays,
  isNone,
  type Rules,
  readRules,
  rulesText,
  spansOf,
} from './rules';
import { TimeLine } from './time-line';

const CHECK = '/repositories/{repository}/settings/gc_rules/check';

interface EditProps {
  /** What is in force as far as the page knows. */
  policy: Policy;
  start: Rules;
  /** Show what is in force now. */
  onMoved: () => void;
  onSaved: () => void;
  onClose: () => void;
}

export function EditPolicy({ policy, start, onMoved, onSaved, onClose }: EditProps) {
  const { id: repository } = useRepository();
  const [text, setText] = useState(rulesText(start));
  const [isForm, setForm] = useState(false);
  const read = readRules(text);
  const rules = 'rules' in read ? read.rules : undefined;
  const problem = 'problem' in read ? read.problem : undefined;
  const draft = isForm ? draftOf(text) : undefined;
  const submit = useAction(async () => {
    if (!rules) return;
    await ifUnchanged('the policy', replacePolicy(repository, policy, rules), onMoved);
    onSaved();
    tell('The retention policy was saved.');
    onClose();
  });
  return (
    <FormDialog
      title="Edit policy"
      isWide
      action="Save policy"
      isReady={Boolean(rules)}
      {...{ submit, onClose }}
    >
      <div class="bar">
        <div class="tabs grow" role="tablist" aria-label="How to edit">
          <Tab text="JSON" isHere={!isForm} onClick={() => setForm(false)} />
          <Tab text="Form" isHere={isForm} onClick={() => setForm(true)} />
        </div>
        <Button isSmall onClick={() => setText(rulesText(EXAMPLE))}>
          Insert the example
        </Button>
      </div>
      {draft ? (
        <>
          <RulesForm rules={draft} onRules={changed => setText(rulesText(changed))} />
          {problem && hasDays(draft) && <Notice kind="danger">{problem}</Notice>}
        </>
      ) : (
        <AreaField
          label="Policy"
          isCode
          rows={10}
          value={text}
          onText={setText}
          problem={problem}
          hint="Branches without a rule of their own keep objects for default_retention_days."
        />
      )}
      {rules && (
        <Preview before={policy.setting ?? undefined} rules={rules} repository={repository} />
      )}
    </FormDialog>
  );
}

function Tab({ text, isHere, onClick }: { text: string; isHere: boolean; onClick: () => void }) {
  return (
    <button type="button" role="tab" aria-selected={isHere} onClick={onClick}>
      {text}
    </button>
  );
}

function RulesForm({ rules, onRules }: { rules: Rules; onRules: (rules: Rules) => void }) {
  const { branches } = rules;
  const put = (at: number, change: Partial<Rules['branches'][number]>) =>
    onRules({
      ...rules,
      branches: branches.map((rule, index) => (index === at ? { ...rule, ...change } : rule)),
    });
  return (
    <div class="stack">
      <DaysField
        label="Days on branches without a rule of their own"
        days={rules.default_retention_days}
        onDays={days => onRules({ ...rules, default_retention_days: days })}
      />
      {branches.map(({ branch_id, retention_days }, at) => (
        <div class="bar rule-row" key={at}>
          <TextField
            label="Branch"
            value={branch_id}
            required
            onText={name => put(at, { branch_id: name })}
          />
          <DaysField
            label="Days"
            days={retention_days}
            onDays={days => put(at, { retention_days: days })}
          />
          <Button
            icon="trash"
            label={`Delete the rule of ${branch_id}`}
            onClick={() =>
              onRules({ ...rules, branches: branches.filter((_, index) => index !== at) })
            }
          />
        </div>
      ))}
      <div>
        <Button
          icon="plus"
          onClick={() => {
            const rule = { branch_id: freeName(rules), retention_days: 21 };
            onRules({ ...rules, branches: [...branches, rule] });
          }}
        >
          Add a branch
        </Button>
      </div>
    </div>
  );
}

/** Return whether each field of days holds some; a field that does not tells of it. */
function hasDays(rules: Rules): boolean {
  return spansOf(rules).every(({ days }) => isDays(days));
}

interface DaysProps {
  label: string;
  /** What is no number is null in the JSON. */
  days: number | null;
  onDays: (days: number) => void;
}

function DaysField({ label, days, onDays }: DaysProps) {
  return (
    <TextField
      label={label}
      type="number"
      min={0}
      value={String(days ?? '')}
      onText={text => onDays(text ? Number(text) : Number.NaN)}
      problem={isDays(days) ? undefined : 'Write a whole number, 0 or more.'}
    />
  );
}

function freeName({ branches }: Rules): string {
  const taken = new Set(branches.map(({ branch_id }) => branch_id));
  let name = 'main';
  for (let number = 2; taken.has(name); number++) name = `branch-${number}`;
  return name;
}

interface PreviewProps {
  before: Rules | undefined;
  rules: Rules;
  repository: string;
}

/** Tells what saving would change, and what the server warns of. */
function Preview({ before, rules, repository }: PreviewProps) {
  const body = useSettled(JSON.stringify(rules));
  const checked = useResource(['check', repository, body], signal =>
    answer(api.POST(CHECK, { params: { path: { repository } }, body: JSON.parse(body), signal })),
  );
  const changes = changesOf(before, rules);
  return (
    <div class="stack" aria-live="polite">
      {isNone(rules) ? (
        <Notice>These are no rules: no committed object is collected, as without a policy.</Notice>
      ) : changes.length === 0 ? (
        <p class="quiet">This is the policy in force.</p>
      ) : (
        <Notice kind={changes.some(({ isShorter }) => isShorter) ? 'warning' : 'info'}>
          <ul>
            {changes.map(({ text, isShorter }) => (
              <li key={text}>
                {text}
                {isShorter && '; data may become unreadable sooner'}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      <Problem failure={checked.failure} />
      {checked.data?.warnings.map(warning => (
        <Notice key={warning} kind="warning">
          {warning}
        </Notice>
      ))}
      {!isNone(rules) && <TimeLine rules={rules} />}
    </div>
  );
}
