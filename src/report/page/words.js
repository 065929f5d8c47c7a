// Texts that need no page.

// The text for a word of a document; where a later version knows more words, the word itself.
export function textFor(texts, word) {
  return Object.hasOwn(texts, word) ? texts[word] : String(word ?? '').replaceAll('_', ' ');
}

const continuations = {
  clip: 'with the recording that follows',
  cycle: 'with the best cycle',
  walk: 'with the walk of the toolkit',
  still: 'in the last pose',
};

// Whether the motion can go on where it ends.
export function endOf(end) {
  if (end.verdict !== 'viable') return [end.verdict, end.reason].filter(Boolean).join(': ');
  const seconds = Number.isFinite(end.seconds) ? `${end.seconds.toFixed(1)} s more on the feet` : 'on the feet';
  return `viable: ${seconds} ${textFor(continuations, end.continuation)}`.trimEnd();
}
