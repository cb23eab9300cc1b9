import { describe, expect, test } from 'vitest'
import type { OperatorError } from '../../src/errors.ts'
import {
  corrupt,
  inUse,
  missing,
  newer,
  older,
  noArgon2,
  noPassphrase,
  nothingPossible,
  occupied,
  otherProtection,
  unfit,
  unprotected,
  unsettledMove,
  unsoundBackup,
  unwritable,
  wrongPassphrase,
} from '../../src/store/refusals.ts'

const cause = new Error('below')
const owner = { pid: 7, host: 'a-host', startedAt: '2026-01-01T00:00:00Z' }

/** A refusal, its code, and what must stand in its message and in its hint. */
const REFUSALS: [OperatorError, OperatorError['code'], RegExp, RegExp][] = [
  [missing('/d', 'none'), 'store-missing', /no store in \/d$/, /`dataDir`.*`postern run`/],
  [
    missing('/d', 'traces'),
    'store-missing',
    /\/d held a store, but its database postern\.db is gone/,
    /`postern backup restore`.*move store\.json away/,
  ],
  [
    inUse('/d', owner),
    'store-in-use',
    /\/d is in use by process 7 on a-host, running since 2026-01-01T00:00:00Z/,
    /try again.*stop that process.*`dataDir` of its own/,
  ],
  [inUse('/d', null), 'store-in-use', /\/d is in use by another process$/, /stop that process/],
  [
    wrongPassphrase(),
    'store-passphrase',
    /does not open the store/,
    /made with.*`key\.passphrase` \(POSTERN_KEY_PASSPHRASE_FILE/,
  ],
  [
    noArgon2(),
    'store-derivation',
    /derived from the passphrase by Argon2id, which this Node\.js cannot compute$/,
    /OpenSSL 3\.2 or later, as those of nodejs\.org/,
  ],
  [
    noPassphrase(),
    'store-locked',
    /none was given/,
    /`key\.passphrase` \(POSTERN_KEY_PASSPHRASE_FILE/,
  ],
  [
    otherProtection('none', 'keychain'),
    'protection',
    /rests without protection, and key\.protection is keychain/,
    /`postern key protect keychain`, or set key\.protection to none/,
  ],
  [otherProtection('keychain', 'none'), 'protection', /under the OS keychain/, /to keychain/],
  [otherProtection('passphrase', 'none'), 'protection', /under a passphrase/, /to passphrase/],
  [
    unprotected(),
    'protection',
    /without protection: whoever reads the disk has the secret keys/,
    /`postern key protect passphrase`.*key\.protection to none/,
  ],
  [
    nothingPossible(null),
    'settings',
    /key\.passphrase: is required.*unless you say so$/,
    /POSTERN_KEY_PASSPHRASE_FILE/,
  ],
  [
    nothingPossible(unfit('the reason', 'x'), 'make one so'),
    'settings',
    /unless you say so; the reason$/,
    /^make one so$/,
  ],
  [
    corrupt('a page is gone', cause),
    'store-corrupt',
    /damaged: a page is gone$/,
    /nothing was changed.*`postern backup restore`/,
  ],
  [
    newer(9, 8),
    'store-newer',
    /has version 9, and this Postern knows versions up to 8/,
    /wrote it/,
  ],
  [
    older(7, 16),
    'store-older',
    /has version 7, from before Postern 0.1.0, and this Postern knows versions from 16/,
    /nothing was changed.*aside.*new key/,
  ],
  [
    unwritable('/d', 'ENOSPC', cause),
    'store-unwritable',
    /\/d cannot be written: ENOSPC$/,
    /free space.*nothing was lost/,
  ],
  [
    unsettledMove('/d', cause),
    'store-unwritable',
    /\/d cannot be written: the protection was not moved/,
    /keep the old passphrase and the new one.*free space.*mount it writable$/,
  ],
  [
    unsoundBackup('/f', 'it is empty', cause),
    'failed',
    /\/f is no sound backup: it is empty$/,
    /`postern backup create`.*`postern backup verify`/,
  ],
  [occupied('/d'), 'refused', /\/d holds a store, or held one/, /mv \/d \/d\.aside$/],
  [unfit('it is a file', 'name a folder'), 'data-dir', /^it is a file$/, /^name a folder$/],
]

test.each(REFUSALS)('it is said why, and what to do: %s', (refusal, code, message, hint) => {
  expect(refusal.code).toBe(code)
  expect(refusal.message).toMatch(message)
  expect(refusal.hint).toMatch(hint)
})

describe('what is below a refusal', () => {
  test('is kept for the log', () => {
    for (const refusal of [
      corrupt('x', cause),
      unwritable('/d', 'x', cause),
      unsettledMove('/d', cause),
      unsoundBackup('/f', 'x', cause),
    ]) {
      expect(refusal.cause).toBe(cause)
    }
  })

  test('is not made up', () => {
    for (const refusal of [corrupt('x'), unwritable('/d', 'x'), unsoundBackup('/f', 'x')]) {
      expect('cause' in refusal).toBe(false)
    }
  })
})
