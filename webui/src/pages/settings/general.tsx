/** General settings: what the repository is, its metadata, and its deletion. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { answer, api } from '../../api/client';
import { links } from '../../links';
import { Button, CopyButton } from '../../parts/button';
import { Confirm } from '../../parts/dialog';
import { useRepository } from '../../parts/repository';
import { tell } from '../../parts/toast';
import { momentText } from '../../parts/words';
import { Metadata } from './metadata';

export function General() {
  const repository = useRepository();
  return (
    <div class="stack loose">
      <h1>General</h1>
      <dl class="facts">
        <dt>Name</dt>
        <dd>{repository.id}</dd>
        <dt>Storage namespace</dt>
        <dd>
          <code>{repository.storage_namespace}</code>{' '}
          <CopyButton text={repository.storage_namespace} label="Copy the storage namespace" />
        </dd>
        <dt>Default branch</dt>
        <dd>
          <a href={links.objects(repository.id, repository.default_branch)}>
            {repository.default_branch}
          </a>
        </dd>
        <dt>Created</dt>
        <dd>{momentText(repository.creation_date)}</dd>
        <dt>Read-only</dt>
        <dd>{repository.read_only ? 'Yes' : 'No'}</dd>
      </dl>
      <Metadata />
      <Danger />
    </div>
  );
}

function Danger() {
  const { id: repository, storage_namespace, read_only } = useRepository();
  const { route } = useLocation();
  const [isAsking, setAsking] = useState(false);
  const act = async () => {
    // The server deletes a read-only repository only by force; its user has just typed the name.
    const query = read_only ? { force: true } : undefined;
    await answer(
      api.DELETE('/repositories/{repository}', { params: { path: { repository }, query } }),
    );
    tell(`Repository ${repository} was deleted.`);
    route(links.repositories());
  };
  return (
    <section class="card" aria-labelledby="danger">
      <div class="card-body bar roomy">
        <div class="grow">
          <h2 id="danger">Delete this repository</h2>
          <p class="quiet">
            All branches, tags, commits and settings are lost. The objects in storage stay.
          </p>
        </div>
        <Button kind="danger" icon="trash" onClick={() => setAsking(true)}>
          Delete repository
        </Button>
      </div>
      {isAsking && (
        <Confirm
          title={`Delete repository ${repository}?`}
          action="Delete repository"
          mustType={repository}
          act={act}
          onClose={() => setAsking(false)}
        >
          <p>All its branches, tags, commits and settings are lost.</p>
          <p>
            The objects in <code>{storage_namespace}</code> stay, and still cost storage.
          </p>
        </Confirm>
      )}
    </section>
  );
}
