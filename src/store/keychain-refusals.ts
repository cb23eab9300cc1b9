/** Why the operating system's keychain cannot be used, each with what to do. */
import { OperatorError, type OperatorCode } from '../errors.ts'

interface Words {
  code: OperatorCode
  message: string
  hint: string
}

const TROUBLES = {
  'not-installed': {
    code: 'keychain',
    message: 'the OS keychain cannot be used: the optional package keytar is not installed',
    hint: 'install it: on Debian `apt-get install libsecret-1-dev make g++ python3`, then `npm ci` once more',
  },
  'no-library': {
    code: 'keychain',
    message: 'the OS keychain cannot be used: keytar’s library does not load (libsecret)',
    hint: 'install the library: on Debian `apt-get install libsecret-1-0`',
  },
  'no-bus': {
    code: 'keychain',
    message: 'the OS keychain cannot be used: there is no session D-Bus to reach it by',
    hint: 'start Postern inside a desktop session, or with `dbus-run-session`',
  },
  'no-service': {
    code: 'keychain',
    message: 'the OS keychain cannot be used: nobody keeps secrets on the session D-Bus',
    hint: 'install and start a Secret Service, such as gnome-keyring',
  },
  locked: {
    code: 'store-locked',
    message: 'the OS keychain is locked',
    hint: 'unlock it, by logging in or with `gnome-keyring-daemon --unlock`, and start again',
  },
  'no-collection': {
    code: 'keychain',
    message: 'the OS keychain cannot be used: it has no collection to keep secrets in',
    hint: 'make one: `gnome-keyring-daemon --unlock` makes the login collection with the password it is given',
  },
  forgetful: {
    code: 'keychain',
    message: 'the OS keychain cannot be used: it did not keep what was written to it',
    hint: 'see what answers as the Secret Service of this session',
  },
  silent: {
    code: 'keychain',
    message: 'the OS keychain cannot be used: it did not answer in time',
    hint: 'it may be asking to be unlocked on a screen; unlock it and start again',
  },
  other: {
    code: 'keychain',
    message: 'the OS keychain cannot be used: it refused',
    hint: 'see whether `secret-tool store --label=trial a b` works in this session',
  },
} as const satisfies Record<string, Words>

/** What is wrong with a keychain. */
export type KeychainTrouble = keyof typeof TROUBLES

const INSTEAD =
  'to do without a keychain: `key.protection: passphrase`, and a file named by POSTERN_KEY_PASSPHRASE_FILE'

/** The refusal for what is wrong with the keychain. */
export function keychainRefusal(trouble: KeychainTrouble, cause?: unknown): OperatorError {
  const { code, message, hint } = TROUBLES[trouble]
  return new OperatorError(code, message, `${hint}\n${INSTEAD}`, { cause })
}

/** The keychain works, and holds nothing for this store. */
export function noEntry(account: string): OperatorError {
  return new OperatorError(
    'store-locked',
    `the store rests under the OS keychain, and this keychain has no entry ${account} for it`,
    'run Postern as the user, and on the machine, whose keychain has it; or restore a backup that ' +
      'was made under a passphrase',
  )
}
