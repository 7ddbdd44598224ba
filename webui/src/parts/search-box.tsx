/** Fields that narrow the list below them. */

import { useEffect, useState } from 'preact/hooks';
import { handleSubmit } from './form';
import { Icon, type IconName } from './icon';

interface SearchProps {
  icon?: IconName;
  /** What is found by what, read aloud. */
  label: string;
  placeholder: string;
  value: string;
  onText: (text: string) => void;
}

/** Narrows while one types. */
export function SearchBox({ icon = 'search', label, placeholder, value, onText }: SearchProps) {
  return (
    <div class="search-box">
      <Icon name={icon} />
      <input
        class="input search"
        type="search"
        aria-label={label}
        placeholder={placeholder}
        value={value}
        onInput={event => onText(event.currentTarget.value)}
      />
    </div>
  );
}

interface PathProps {
  label: string;
  value: string;
  onPath: (path: string) => void;
}

/** Narrows to paths on Enter, since each path is a request of its own; an emptied field at once. */
export function PathBox({ label, value, onPath }: PathProps) {
  const [text, setText] = useState(value);
  useEffect(() => {
    setText(value);
  }, [value]);
  return (
    <form class="search-box" onSubmit={handleSubmit(() => onPath(text))}>
      <Icon name="filter" />
      <input
        class="input search"
        type="search"
        aria-label={label}
        placeholder="Path begins with… (Enter)"
        value={text}
        onInput={event => {
          setText(event.currentTarget.value);
          if (!event.currentTarget.value) onPath('');
        }}
      />
    </form>
  );
}
