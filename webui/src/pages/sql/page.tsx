/** SQL over the objects of a ref. The query is in the address, and runs when it is opened. */

import { useEffect, useState } from 'preact/hooks';
import { useQuery } from '../../parts/query';
import { RefPicker } from '../../parts/ref-picker';
import { useCurrentRef, useRepository } from '../../parts/repository';
import { useTitle } from '../../parts/title';
import { Editor } from './editor';
import { Examples } from './examples';
import { Results } from './results';
import { useAnswer } from './use-answer';

export default function SqlPage() {
  const repository = useRepository().id;
  const ref = useCurrentRef();
  const [{ query = '' }, setQuery] = useQuery();
  const [text, setText] = useState(query);
  useEffect(() => setText(query), [query]);
  const answer = useAnswer({ repository, ref, query });
  useTitle('SQL', repository);
  const run = (wanted: string) => {
    setText(wanted);
    if (wanted === query) answer.again();
    // The order and the filter are those of the rows before.
    else setQuery({ query: wanted, sort: undefined, order: undefined, filter: undefined });
  };
  return (
    <div class="stack">
      <h1 class="visually-hidden">SQL over {ref}</h1>
      <div class="bar">
        <RefPicker
          {...{ repository }}
          value={ref}
          label="Query at"
          onChoose={chosen => setQuery({ ref: chosen })}
        />
        <span class="small quiet">
          A table is an object, a folder or a glob in quotes: <code>'tables/trips.parquet'</code>
        </span>
      </div>
      <Editor
        text={text}
        isRunning={answer.isRunning}
        onText={setText}
        onRun={() => text.trim() && run(text)}
        onStop={answer.stop}
      />
      {query ? (
        <Results {...{ answer, query, repository }} />
      ) : (
        <Examples key={ref} {...{ repository, at: ref }} onChoose={run} />
      )}
    </div>
  );
}
