/** Why the operating system's keychain cannot be used, each with a hint. */
import { OperatorError, type OperatorCode } from '../errors.ts'

/** A problem, and a hint. */
const TROUBLES = {
  'not-installed': [
    'the optional package keytar is not installed',
    'install it: `npm ci` once more, without `--omit=optional`',
  ],
  'no-library': [
    'keytar has no build for this system, or its library does not load (libsecret)',
    'install the library: on Debian `apt-get install libsecret-1-0`',
  ],
  'no-bus': [
    'there is no session D-Bus to reach it by',
    'start Postern inside a desktop session, or with `dbus-run-session`',
  ],
  'no-service': [
    'nobody keeps secrets on the session D-Bus',
    'install and start a Secret Service, such as gnome-keyring',
  ],
  locked: [
    'it is locked',
    'unlock it, by logging in or with `gnome-keyring-daemon --unlock`, and start again',
  ],
  'no-collection': [
    'it has no collection to keep secrets in',
    'make one: `gnome-keyring-daemon --unlock` makes the login collection with the password it is given',
  ],
  forgetful: [
    'it did not keep what was written to it',
    'see what answers as the Secret Service of this session',
  ],
  silent: [
    'it did not answer in time',
    'it may be asking to be unlocked on a screen; unlock it and start again',
  ],
  other: ['it refused', 'see whether `secret-tool store --label=trial a b` works in this session'],
} as const

/** Why a keychain cannot be used. */
export type KeychainTrouble = keyof typeof TROUBLES

const INSTEAD =
  'to do without a keychain: `key.protection: passphrase`, and a file named by POSTERN_KEY_PASSPHRASE_FILE'

/** The refusal for a keychain that cannot be used. */
export function keychainRefusal(trouble: KeychainTrouble, cause?: unknown): OperatorError {
  const [problem, hint] = TROUBLES[trouble]
  const [code, message]: [OperatorCode, string] =
    trouble === 'locked'
      ? ['store-locked', 'the OS keychain is locked']
      : ['keychain', `the OS keychain cannot be used: ${problem}`]
  return new OperatorError(code, message, `${hint}\n${INSTEAD}`, { cause })
}

/** The keychain works, and holds nothing for this store. */
export const noEntry = (account: string): OperatorError =>
  new OperatorError(
    'store-locked',
    `the store rests under the OS keychain, and this keychain has no entry ${account} for it`,
    'run Postern as the user, and on the machine, whose keychain has it; or restore a backup that ' +
      'was made under a passphrase',
  )
