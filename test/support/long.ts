/** What starts hundreds of processes, or tries every bit, or a crowd: `npm run test:all` alone. */
export const LONG = [
  'test/cli/keychain.test.ts',
  'test/cli/scripts-long.test.ts',
  'test/contract/persistence.test.ts',
  'test/faults/command-kills.test.ts',
  'test/faults/rotation-kills.test.ts',
  'test/media/crowded.test.ts',
  'test/openpgp/stream/flips.test.ts',
  'test/sandbox/kill.test.ts',
]
