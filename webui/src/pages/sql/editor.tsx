/** Where a query is written. */

import { Button } from '../../parts/button';

interface EditorProps {
  text: string;
  isRunning: boolean;
  onText: (text: string) => void;
  onRun: () => void;
  onStop: () => void;
}

const LINES = { least: 4, most: 16 };

export function Editor({ text, isRunning, onText, onRun, onStop }: EditorProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      onRun();
    } else if (event.key === 'Escape' && isRunning) onStop();
  };
  return (
    <form
      class="stack tight"
      onKeyDown={onKeyDown}
      onSubmit={event => {
        event.preventDefault();
        onRun();
      }}
    >
      <textarea
        class="textarea code"
        aria-label="Query"
        placeholder="SELECT …"
        rows={Math.min(LINES.most, Math.max(LINES.least, text.split('\n').length + 1))}
        spellcheck={false}
        autocapitalize="off"
        autocomplete="off"
        value={text}
        onInput={event => onText(event.currentTarget.value)}
      />
      <div class="bar">
        {isRunning ? (
          <Button icon="stop" onClick={onStop}>
            Stop
          </Button>
        ) : (
          <Button kind="primary" icon="play" type="submit" disabled={!text.trim()}>
            Run
          </Button>
        )}
        <span class="small quiet wide-only">
          {isRunning ? (
            <>
              <kbd>Esc</kbd> stops
            </>
          ) : (
            <>
              <kbd>Ctrl</kbd> <kbd>Enter</kbd> runs
            </>
          )}
        </span>
      </div>
    </form>
  );
}
