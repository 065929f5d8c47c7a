// What may be shown beside the motion of a run: member of the document, name, how it is shown at first, and the key that
// changes that.
export const beside = [
  { motion: 'reference', name: 'Reference', shown: 'off', key: 'g' },
  { motion: 'recording', name: 'Recording', shown: 'beside', key: 'o' },
  { motion: 'tracking', name: 'Without feedback', shown: 'off', key: 'n' },
  { motion: 'ragdoll', name: 'Ragdoll', shown: 'beside', key: 'r' },
];
