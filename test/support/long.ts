/** What starts hundreds of processes, or tries every bit, or a crowd: `npm run test:all` alone. */
export const LONG = [
  'test/cli/backups.test.ts',
  'test/cli/key-files.test.ts',
  'test/cli/protect.test.ts',
  'test/contract/persistence.test.ts',
  'test/faults/command-kills.test.ts',
  'test/faults/rotation-kills.test.ts',
  'test/media/crowded.test.ts',
  'test/openpgp/stream/flips.test.ts',
  'test/sandbox/kill.test.ts',
]
