/** Why the operating system's keychain cannot be used, each with what to do. */
import { OperatorError } from '../errors.ts';
declare const TROUBLES: {
    readonly 'not-installed': {
        readonly code: 'keychain';
        readonly message: 'the OS keychain cannot be used: the optional package keytar is not installed';
        readonly hint: 'install it: on Debian `apt-get install libsecret-1-dev make g++ python3`, then `npm ci` once more';
    };
    readonly 'no-library': {
        readonly code: 'keychain';
        readonly message: 'the OS keychain cannot be used: keytar’s library does not load (libsecret)';
        readonly hint: 'install the library: on Debian `apt-get install libsecret-1-0`';
    };
    readonly 'no-bus': {
        readonly code: 'keychain';
        readonly message: 'the OS keychain cannot be used: there is no session D-Bus to reach it by';
        readonly hint: 'start Postern inside a desktop session, or with `dbus-run-session`';
    };
    readonly 'no-service': {
        readonly code: 'keychain';
        readonly message: 'the OS keychain cannot be used: nobody keeps secrets on the session D-Bus';
        readonly hint: 'install and start a Secret Service, such as gnome-keyring';
    };
    readonly locked: {
        readonly code: 'store-locked';
        readonly message: 'the OS keychain is locked';
        readonly hint: 'unlock it, by logging in or with `gnome-keyring-daemon --unlock`, and start again';
    };
    readonly 'no-collection': {
        readonly code: 'keychain';
        readonly message: 'the OS keychain cannot be used: it has no collection to keep secrets in';
        readonly hint: 'make one: `gnome-keyring-daemon --unlock` makes the login collection with the password it is given';
    };
    readonly forgetful: {
        readonly code: 'keychain';
        readonly message: 'the OS keychain cannot be used: it did not keep what was written to it';
        readonly hint: 'see what answers as the Secret Service of this session';
    };
    readonly silent: {
        readonly code: 'keychain';
        readonly message: 'the OS keychain cannot be used: it did not answer in time';
        readonly hint: 'it may be asking to be unlocked on a screen; unlock it and start again';
    };
    readonly other: {
        readonly code: 'keychain';
        readonly message: 'the OS keychain cannot be used: it refused';
        readonly hint: 'see whether `secret-tool store --label=trial a b` works in this session';
    };
};
/** What is wrong with a keychain. */
export type KeychainTrouble = keyof typeof TROUBLES;
/** The refusal for what is wrong with the keychain. */
export declare function keychainRefusal(trouble: KeychainTrouble, cause?: unknown): OperatorError;
/** The keychain works, and holds nothing for this store. */
export declare function noEntry(account: string): OperatorError;
export {};
