/**
 * The only source of the codes with which a command ends: its exit code, what happened, and what to
 * do where the error itself has no better hint. The table in src/cli/README.md is checked against it.
 */
export declare const OPERATOR_REFUSALS: {
    readonly usage: {
        readonly exitCode: 2;
        readonly what: 'the command line is wrong';
        readonly hint: '`postern <command> --help` shows what the command takes';
    };
    readonly settings: {
        readonly exitCode: 2;
        readonly what: 'a setting is missing or wrong';
        readonly hint: '`postern run --help` lists every setting, `postern config show` where each comes from';
    };
    readonly environment: {
        readonly exitCode: 1;
        readonly what: 'the process would not be safe to keep secrets in';
        readonly hint: 'start it without the named option or variable';
    };
    readonly listen: {
        readonly exitCode: 1;
        readonly what: 'a port or socket cannot be listened on';
        readonly hint: 'choose another, or stop what listens there';
    };
    readonly 'not-running': {
        readonly exitCode: 1;
        readonly what: 'no sidecar runs on the data directory';
        readonly hint: 'start it with `postern run`, or name its data directory with `--data-dir`';
    };
    readonly 'data-dir': {
        readonly exitCode: 1;
        readonly what: 'the data directory cannot be used';
        readonly hint: 'it must be a folder of this user, on a local disk, closed to others';
    };
    readonly 'store-missing': {
        readonly exitCode: 1;
        readonly what: 'there is no store in the data directory';
        readonly hint: 'check `dataDir`; the first `postern run` makes the store';
    };
    readonly 'store-in-use': {
        readonly exitCode: 1;
        readonly what: 'another process holds the store';
        readonly hint: 'stop that process, or give this one a `dataDir` of its own';
    };
    readonly 'store-locked': {
        readonly exitCode: 1;
        readonly what: 'nothing that opens the store was given';
        readonly hint: 'give `key.passphrase`, or unlock the keychain';
    };
    readonly 'store-passphrase': {
        readonly exitCode: 1;
        readonly what: 'the passphrase does not open the store';
        readonly hint: 'give the one that it was made with, or was last moved to';
    };
    readonly 'store-corrupt': {
        readonly exitCode: 1;
        readonly what: 'the store is damaged';
        readonly hint: 'move the folder aside, keep it, and `postern backup restore` a backup';
    };
    readonly 'store-newer': {
        readonly exitCode: 1;
        readonly what: 'a later Postern wrote the store';
        readonly hint: 'run the Postern that wrote it, or a later one';
    };
    readonly 'store-unwritable': {
        readonly exitCode: 1;
        readonly what: 'the data directory cannot be written';
        readonly hint: 'free space on its disk, or mount it writable';
    };
    readonly 'store-restored': {
        readonly exitCode: 1;
        readonly what: 'the store comes from a backup and is not accepted yet';
        readonly hint: '`postern backup accept` compares it with the service and lets it run';
    };
    readonly protection: {
        readonly exitCode: 1;
        readonly what: 'the store has another protection than the settings name, or none';
        readonly hint: '`postern key protect` moves it';
    };
    readonly keychain: {
        readonly exitCode: 1;
        readonly what: 'the keychain of the operating system cannot be used';
        readonly hint: 'mend what the message names, or use `key.protection: passphrase`';
    };
    readonly passphrase: {
        readonly exitCode: 1;
        readonly what: 'a passphrase that the command needs is missing or wrong';
        readonly hint: 'type it at a terminal, or give it in the environment variable that the message names';
    };
    readonly refused: {
        readonly exitCode: 1;
        readonly what: 'Postern does not do this';
        readonly hint: 'do what the message says first';
    };
    readonly failed: {
        readonly exitCode: 1;
        readonly what: 'it was tried and did not work';
        readonly hint: 'see the message and the log of the sidecar, and try again';
    };
};
