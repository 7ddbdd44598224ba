/** The fields of one right: which repository, which paths, to read or to write. */

import { useResource } from '../../api/resource';
import { Button } from '../../parts/button';
import { CheckField, SelectField, TextField } from '../../parts/field';
import { useSettled } from '../../parts/settled';
import styles from './access.module.css';
import { ALL, type Grant, problemsOf } from './grants';
import { readRepositories } from './lists';
import { NameField } from './names';

interface GrantProps {
  title: string;
  grant: Grant;
  onGrant: (grant: Grant) => void;
  onRemove?: () => void;
}

export function GrantFields({ title, grant, onGrant, onRemove }: GrantProps) {
  const { access, repository, prefix, branch } = grant;
  const put = (changes: Partial<Grant>) => onGrant({ ...grant, ...changes });
  const problems = problemsOf(grant);
  const isAll = repository === ALL;
  const isUnknown = useIsUnknown(isAll ? '' : repository);
  return (
    <fieldset class={styles.grant}>
      <legend class="strong">{title}</legend>
      <div class={styles.pair}>
        <div class="stack tight">
          <NameField
            label="Repository"
            icon="repository"
            value={isAll ? '' : repository}
            onText={name => put({ repository: name.trim() })}
            suggest={readRepositories}
            problem={problems.repository}
            hint={isUnknown ? 'No repository has this name yet.' : undefined}
            disabled={isAll}
          />
          <CheckField
            label="All repositories"
            isChecked={isAll}
            onCheck={isOn => put({ repository: isOn ? ALL : '', prefix: '', branch: '' })}
          />
        </div>
        <SelectField
          label="May"
          value={access}
          onText={text => put({ access: text as Grant['access'], branch: '' })}
          options={[
            { value: 'read', text: 'Read' },
            { value: 'write', text: 'Read and write' },
          ]}
        />
      </div>
      {!isAll && (
        <div class={styles.pair}>
          <TextField
            label="Paths that begin with"
            value={prefix}
            onText={text => put({ prefix: text })}
            placeholder="all paths"
            problem={problems.prefix}
            hint={
              prefix && !prefix.endsWith('/')
                ? `This covers ${prefix}-old/ as well. End a folder with a slash.`
                : 'A folder ends with a slash: reports/'
            }
          />
          {access === 'write' && (
            <TextField
              label="Commits to the branch"
              value={branch}
              onText={text => put({ branch: text.trim() })}
              placeholder="every branch"
              problem={problems.branch}
              hint="A star stands for any text: dev-*"
            />
          )}
        </div>
      )}
      {onRemove && (
        <div>
          <Button isSmall icon="close" onClick={onRemove}>
            Remove {title.toLowerCase()}
          </Button>
        </div>
      )}
    </fieldset>
  );
}

/** Return whether no repository has the name: a policy of a misspelled one would allow nothing. */
function useIsUnknown(name: string): boolean {
  const settled = useSettled(name);
  const { data } = useResource(readRepositories(settled));
  const isFound = data?.results.some(({ id }) => id === name) ?? true;
  return Boolean(name) && name === settled && !isFound;
}
