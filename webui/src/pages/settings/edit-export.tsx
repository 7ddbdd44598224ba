/** The dialog that configures the export of a branch. */

import { useState } from 'preact/hooks';
import { answer, api, Failure, type Schemas } from '../../api/client';
import { useAction } from '../../api/resource';
import { FormDialog } from '../../parts/dialog';
import { AreaField, CheckField, TextField } from '../../parts/field';
import { tell } from '../../parts/toast';
import { problemOfPatterns } from './patterns';

export type Configuration = Schemas['ConfigurationBody'];

interface EditProps {
  repository: string;
  branch: string;
  before: Configuration | undefined;
  onSaved: () => void;
  onClose: () => void;
}

function problemOfUri(uri: string): string | undefined {
  return !uri || /^s3:\/\/[^/]+/.test(uri) ? undefined : 'Begin with s3:// and a bucket.';
}

async function save(
  repository: string,
  branch: string,
  body: Configuration,
  force: boolean,
): Promise<void> {
  const path = { repository, branch };
  await answer(
    api.PUT('/repositories/{repository}/branches/{branch}/continuous-export', {
      params: { path, query: force ? { force } : {} },
      body,
    }),
  );
  tell(`The export of ${branch} is configured; its head is exported now.`);
}

export function EditExport({ repository, branch, before, onSaved, onClose }: EditProps) {
  const [path, setPath] = useState(before?.exportPath ?? '');
  const [status, setStatus] = useState(before?.exportStatusPath ?? '');
  const [patterns, setPatterns] = useState((before?.lastKeysInPrefixRegexp ?? []).join('\n'));
  const [isContinuous, setContinuous] = useState(before?.isContinuous ?? true);
  // The path that holds objects, if the server has said so of it, and whether it is used all the same.
  const [taken, setTaken] = useState<string>();
  const [isForced, setForced] = useState(false);
  const problem = problemOfPatterns(patterns);
  const isGood = !problem && !problemOfUri(path) && !problemOfUri(status);
  const submit = useAction(async () => {
    const body = {
      exportPath: path,
      exportStatusPath: status || null,
      lastKeysInPrefixRegexp: patterns.split('\n').filter(Boolean),
      isContinuous,
    };
    try {
      await save(repository, branch, body, isForced && path === taken);
    } catch (error) {
      if (error instanceof Failure && /is not empty/.test(error.message)) setTaken(path);
      throw error;
    }
    onSaved();
    onClose();
  });
  return (
    <FormDialog
      title={`Export of ${branch}`}
      isWide
      action="Save and export"
      isReady={isGood}
      {...{ submit, onClose }}
    >
      <TextField
        label="Export path"
        hint="It belongs to this branch alone. Your administrator allows paths by a setting."
        placeholder="s3://company-bucket/example/latest"
        value={path}
        onText={setPath}
        problem={problemOfUri(path)}
        required
      />
      <TextField
        label="Status path (optional)"
        hint="Reports and manifests of the export are written here."
        value={status}
        onText={setStatus}
        problem={problemOfUri(status)}
      />
      <AreaField
        label="Patterns of success files (optional)"
        isCode
        rows={4}
        hint="One regular expression of RE2 a line. A directory that matches gets an empty _lakefs_success when everything in it is exported. An object that matches is itself a success file: it is copied last in its directory."
        value={patterns}
        onText={setPatterns}
        problem={problem}
      />
      <CheckField
        label="Export every later commit"
        hint="Without it, the branch is exported now and when somebody runs it."
        isChecked={isContinuous}
        onCheck={setContinuous}
      />
      {path === taken && (
        <CheckField
          label="Export to this path all the same"
          hint="Objects that have the names of exported ones are overwritten."
          isChecked={isForced}
          onCheck={setForced}
        />
      )}
    </FormDialog>
  );
}
