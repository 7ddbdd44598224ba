/** A field that narrows the list below it while one types. */

import { Icon } from './icon';

interface SearchProps {
  /** What is found by what, read aloud. */
  label: string;
  placeholder: string;
  value: string;
  onText: (text: string) => void;
}

export function SearchBox({ label, placeholder, value, onText }: SearchProps) {
  return (
    <div class="search-box">
      <Icon name="search" />
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
