/** The statements of a policy as rights in a form, or as JSON; what they allow is shown before it is saved. */

import { answer, api, type Schemas } from '../../api/client';
import { useResource } from '../../api/resource';
import { Button } from '../../parts/button';
import { AreaField, CheckField } from '../../parts/field';
import { useSettled } from '../../parts/settled';
import { Notice } from '../../parts/state';
import styles from './access.module.css';
import { GrantFields } from './grant-fields';
import {
  type Grants,
  grantsOf,
  hasProblem,
  NEW_GRANT,
  type Statement,
  statementsOf,
  wordsOf,
} from './grants';

/** What is being written: rights in a form, or the text of statements. */
export type Draft = Grants | { text: string };

/** Statements as they are sent; a condition may be left out. */
export type Statements = Schemas['PolicyBody']['statement'];

const EXAMPLE: Statement[] = [
  {
    effect: 'allow',
    action: ['fs:ReadRepository', 'fs:ReadBranch', 'fs:ListObjects', 'fs:ReadObject'],
    resource: 'arn:lakefs:fs:::repository/sales*',
  },
];

export function jsonOf(statement: readonly Statement[] = EXAMPLE): string {
  return JSON.stringify({ statement }, null, 2);
}

/** Return the draft of existing statements: as a form if that can show them. */
export function draftOf(statements: readonly Statement[]): Draft {
  return grantsOf(statements) ?? { text: jsonOf(statements) };
}

/** Return the statements of the draft, or what is wrong with it; the server checks each of them. */
export function statementsIn(draft: Draft): { statement: Statements } | { problem: string } {
  if ('grants' in draft)
    return draft.grants.some(hasProblem)
      ? { problem: '' }
      : { statement: statementsOf(draft) as Statements };
  try {
    const value = JSON.parse(draft.text);
    if (!Array.isArray(value?.statement))
      return { problem: 'Write an object with a list named statement.' };
    return value.statement.every(isStatement)
      ? { statement: value.statement }
      : { problem: 'Each statement has an effect, a list of actions, and a resource.' };
  } catch (error) {
    return { problem: `This is not JSON: ${(error as Error).message}` };
  }
}

function isStatement(value: unknown): boolean {
  const { action, resource } = Object(value);
  return Array.isArray(action) && typeof resource === 'string';
}

interface StatementFormProps {
  draft: Draft;
  onDraft: (draft: Draft) => void;
}

export function StatementForm({ draft, onDraft }: StatementFormProps) {
  return 'grants' in draft ? (
    <GrantsForm given={draft} onDraft={onDraft} />
  ) : (
    <StatementsAsJson text={draft.text} onDraft={onDraft} />
  );
}

interface GrantsProps {
  given: Grants;
  onDraft: (draft: Draft) => void;
}

function GrantsForm({ given, onDraft }: GrantsProps) {
  const { grants } = given;
  const put = (changes: Partial<Grants>) => onDraft({ ...given, ...changes });
  const isWhole = !grants.some(hasProblem);
  return (
    <>
      {grants.map((grant, at) => (
        <GrantFields
          key={at}
          title={grants.length > 1 ? `Right ${at + 1}` : 'Right'}
          grant={grant}
          onGrant={changed => put({ grants: grants.with(at, changed) })}
          onRemove={grants.length > 1 ? () => put({ grants: grants.toSpliced(at, 1) }) : undefined}
        />
      ))}
      <div class="bar">
        <Button isSmall icon="plus" onClick={() => put({ grants: [...grants, NEW_GRANT] })}>
          Add a right
        </Button>
        <Button
          isSmall
          kind="ghost"
          disabled={!isWhole}
          onClick={() => onDraft({ text: jsonOf(statementsOf(given)) })}
        >
          Write as JSON
        </Button>
      </div>
      <CheckField
        label="May manage their own access keys"
        hint="A program, such as lakectl or DuckDB, logs in with an access key."
        isChecked={given.hasOwnKeys}
        onCheck={hasOwnKeys => put({ hasOwnKeys })}
      />
      {isWhole && <GrantsPreview given={given} />}
    </>
  );
}

function GrantsPreview({ given }: { given: Grants }) {
  const { allows, notes } = wordsOf(given);
  return (
    <section class="stack tight" aria-label="What this allows" aria-live="polite">
      <h3>What this allows</h3>
      <ul class={styles.allows}>
        {allows.map(text => (
          <li class="wrap-anywhere" key={text}>
            {text}
          </li>
        ))}
      </ul>
      {notes.map(text => (
        <Notice key={text}>{text}</Notice>
      ))}
      <details>
        <summary>The policy as JSON</summary>
        <pre class="code-box">{jsonOf(statementsOf(given))}</pre>
      </details>
    </section>
  );
}

function StatementsAsJson({ text, onDraft }: { text: string; onDraft: (draft: Draft) => void }) {
  const content = statementsIn({ text });
  const grants = 'statement' in content ? grantsOf(content.statement) : undefined;
  return (
    <>
      <AreaField
        label="Statements"
        isCode
        rows={16}
        value={text}
        onText={changed => onDraft({ text: changed })}
        problem={'statement' in content ? undefined : content.problem}
        hint="effect is allow or deny. Actions and resources may have wildcards: * and ?. A denial beats every permission."
      />
      {'statement' in content && <PolicyCheck text={text} />}
      <div class="bar">
        <Button isSmall kind="ghost" disabled={!grants} onClick={() => grants && onDraft(grants)}>
          Show as a form
        </Button>
        {!grants && <span class="small quiet">A form cannot show these statements.</span>}
      </div>
    </>
  );
}

/** Shows all that the server would refuse, and warnings of what never applies. */
function PolicyCheck({ text }: { text: string }) {
  const settled = useSettled(text);
  const { data } = useResource(['check', settled], async signal => {
    const content = statementsIn({ text: settled });
    if (!('statement' in content) || !content.statement.length) return undefined;
    // Some problems are of the whole text: creating the policy names them.
    return answer(api.POST('/auth/check_policy', { body: { id: null, ...content }, signal })).catch(
      () => undefined,
    );
  });
  const found = [
    ...(data?.problems ?? []).map(each => ({ ...each, kind: 'warning' as const })),
    ...(data?.warnings ?? []).map(each => ({ ...each, kind: 'info' as const })),
  ];
  if (!found.length) return null;
  return (
    <ul class="stack tight" aria-label="What the check found" aria-live="polite">
      {found.map((each, index) => (
        <li key={index}>
          <Notice kind={each.kind}>
            {each.statement_number && `Statement ${each.statement_number}, ${each.field}: `}
            {each.problem}; {each.remedy}
          </Notice>
        </li>
      ))}
    </ul>
  );
}
