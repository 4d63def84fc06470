// A field for words that narrow a list.
import type { Signal } from "@preact/signals";
import { Icon } from "./icons";

interface Props {
  placeholder: string;
  label: string;
  words: Signal<string>;
  class?: string;
}

export function SearchField({ placeholder, label, words, class: more = "" }: Props) {
  return (
    <label class={`search ${more}`.trim()}>
      <Icon name="search" size={16} />
      <input
        type="search"
        placeholder={placeholder}
        aria-label={label}
        value={words.value}
        onInput={(e) => (words.value = e.currentTarget.value)}
      />
    </label>
  );
}
