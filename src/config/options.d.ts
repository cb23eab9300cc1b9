import { z } from 'zod';
/** How a setting is written where all is text, in the environment and in flags. */
export type Kind = 'text' | 'number' | 'boolean' | 'list' | 'path' | 'secret';
/** What stands beside a schema: its kind, and what was expected when a value is refused. */
export interface About {
    kind: Kind;
    expected: string;
    /** The values there are, when they can be listed. */
    choices?: readonly string[];
}
/** Kind and expectation of each setting's schema. */
export declare const abouts: z.core.$ZodRegistry<About, z.core.$ZodType<unknown, unknown, z.core.$ZodTypeInternals<unknown, unknown>>>;
/** What a settings file may hold; also what flags and environment are checked against. */
export declare const Options: z.ZodObject<{
    upstream: z.ZodObject<{
        url: z.ZodString;
        allowHttp: z.ZodDefault<z.ZodBoolean>;
        caFile: z.ZodOptional<z.ZodString>;
    }, z.core.$strict>;
    bot: z.ZodPrefault<z.ZodObject<{
        token: z.ZodOptional<z.ZodString>;
        tokenFile: z.ZodOptional<z.ZodString>;
        clientToken: z.ZodOptional<z.ZodString>;
        clientTokenFile: z.ZodOptional<z.ZodString>;
    }, z.core.$strict>>;
    listen: z.ZodPrefault<z.ZodObject<{
        host: z.ZodDefault<z.ZodString>;
        port: z.ZodDefault<z.ZodInt>;
        socket: z.ZodOptional<z.ZodString>;
        allowedHosts: z.ZodDefault<z.ZodArray<z.ZodString>>;
    }, z.core.$strict>>;
    admin: z.ZodPrefault<z.ZodObject<{
        host: z.ZodDefault<z.ZodString>;
        port: z.ZodDefault<z.ZodInt>;
    }, z.core.$strict>>;
    dataDir: z.ZodDefault<z.ZodString>;
    key: z.ZodPrefault<z.ZodObject<{
        passphrase: z.ZodOptional<z.ZodString>;
        passphraseFile: z.ZodOptional<z.ZodString>;
        protection: z.ZodDefault<z.ZodEnum<{
            auto: "auto";
            keychain: "keychain";
            none: "none";
            passphrase: "passphrase";
        }>>;
        publish: z.ZodDefault<z.ZodBoolean>;
        rotateEveryDays: z.ZodOptional<z.ZodInt>;
        retainDays: z.ZodDefault<z.ZodInt>;
    }, z.core.$strict>>;
    seal: z.ZodPrefault<z.ZodObject<{
        unusableRecipient: z.ZodDefault<z.ZodEnum<{
            refuse: "refuse";
            skip: "skip";
        }>>;
    }, z.core.$strict>>;
    open: z.ZodPrefault<z.ZodObject<{
        verify: z.ZodDefault<z.ZodEnum<{
            flag: "flag";
            off: "off";
            require: "require";
        }>>;
        audience: z.ZodDefault<z.ZodEnum<{
            check: "check";
            off: "off";
        }>>;
        normalizeText: z.ZodDefault<z.ZodBoolean>;
    }, z.core.$strict>>;
    trust: z.ZodPrefault<z.ZodObject<{
        policy: z.ZodDefault<z.ZodEnum<{
            accept: "accept";
            "first-use": "first-use";
            pinned: "pinned";
        }>>;
    }, z.core.$strict>>;
    alert: z.ZodPrefault<z.ZodObject<{
        command: z.ZodOptional<z.ZodString>;
        url: z.ZodOptional<z.ZodString>;
        urlFile: z.ZodOptional<z.ZodString>;
    }, z.core.$strict>>;
    readableGroups: z.ZodDefault<z.ZodEnum<{
        allow: "allow";
        refuse: "refuse";
    }>>;
    routes: z.ZodPrefault<z.ZodObject<{
        allowUnknown: z.ZodDefault<z.ZodBoolean>;
    }, z.core.$strict>>;
    webhook: z.ZodPrefault<z.ZodObject<{
        allowHosts: z.ZodOptional<z.ZodArray<z.ZodString>>;
    }, z.core.$strict>>;
    cache: z.ZodPrefault<z.ZodObject<{
        keyListSeconds: z.ZodDefault<z.ZodInt>;
        chatSeconds: z.ZodDefault<z.ZodInt>;
    }, z.core.$strict>>;
    log: z.ZodPrefault<z.ZodObject<{
        level: z.ZodDefault<z.ZodEnum<{
            debug: "debug";
            error: "error";
            fatal: "fatal";
            info: "info";
            silent: "silent";
            trace: "trace";
            warn: "warn";
        }>>;
        ids: z.ZodDefault<z.ZodEnum<{
            hash: "hash";
            plain: "plain";
        }>>;
        pretty: z.ZodOptional<z.ZodBoolean>;
    }, z.core.$strict>>;
}, z.core.$strict>;
