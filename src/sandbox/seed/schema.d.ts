import { z } from 'zod';
declare const Person: z.ZodObject<{
    firstName: z.ZodOptional<z.ZodString>;
    lastName: z.ZodOptional<z.ZodString>;
    key: z.ZodDefault<z.ZodUnion<readonly [z.ZodEnum<{
        curve25519: "curve25519";
        expired: "expired";
        none: "none";
        p256: "p256";
        phone: "phone";
        revoked: "revoked";
        rsa3072: "rsa3072";
        "sign-only": "sign-only";
        v6: "v6";
        x25519: "x25519";
    }>, z.ZodObject<{
        publicKey: z.ZodString;
        fingerprint: z.ZodString;
    }, z.core.$strict>]>>;
    blocks: z.ZodDefault<z.ZodArray<z.ZodString>>;
    gone: z.ZodDefault<z.ZodBoolean>;
}, z.core.$strict>;
declare const Bot: z.ZodObject<{
    name: z.ZodOptional<z.ZodString>;
    about: z.ZodOptional<z.ZodString>;
    description: z.ZodOptional<z.ZodString>;
    privacyMode: z.ZodDefault<z.ZodBoolean>;
    allowGroups: z.ZodDefault<z.ZodBoolean>;
    paused: z.ZodDefault<z.ZodBoolean>;
    key: z.ZodOptional<z.ZodObject<{
        publicKey: z.ZodString;
        fingerprint: z.ZodString;
    }, z.core.$strict>>;
    tokenSecret: z.ZodOptional<z.ZodString>;
    commands: z.ZodDefault<z.ZodRecord<z.ZodString, z.ZodArray<z.ZodObject<{
        command: z.ZodPipe<z.ZodPipe<z.ZodString, z.ZodTransform<string, string>>, z.ZodString>;
        description: z.ZodPipe<z.ZodPipe<z.ZodString, z.ZodTransform<string, string>>, z.ZodString>;
    }, z.core.$strict>>>>;
}, z.core.$strict>;
declare const Message: z.ZodObject<{
    from: z.ZodString;
    text: z.ZodString;
    ago: z.ZodDefault<z.ZodString>;
    replyTo: z.ZodOptional<z.ZodInt>;
    markup: z.ZodOptional<z.ZodObject<{
        inlineKeyboard: z.ZodArray<z.ZodArray<z.ZodObject<{
            text: z.ZodString;
            callbackData: z.ZodOptional<z.ZodString>;
            url: z.ZodOptional<z.ZodString>;
        }, z.core.$strict>>>;
    }, z.core.$strict>>;
}, z.core.$strict>;
declare const Room: z.ZodObject<{
    kind: z.ZodEnum<{
        channel: "channel";
        group: "group";
    }>;
    mode: z.ZodDefault<z.ZodEnum<{
        open: "open";
        protected: "protected";
    }>>;
    title: z.ZodOptional<z.ZodString>;
    username: z.ZodOptional<z.ZodString>;
    description: z.ZodOptional<z.ZodString>;
    slowModeSeconds: z.ZodDefault<z.ZodInt>;
    rosterHidden: z.ZodDefault<z.ZodBoolean>;
    adminsHidden: z.ZodDefault<z.ZodBoolean>;
    members: z.ZodRecord<z.ZodString, z.ZodUnion<readonly [z.ZodEnum<{
        admin: "admin";
        member: "member";
        owner: "owner";
        restricted: "restricted";
    }>, z.ZodObject<{
        status: z.ZodEnum<{
            admin: "admin";
            member: "member";
            owner: "owner";
            restricted: "restricted";
        }>;
        rights: z.ZodOptional<z.ZodArray<z.ZodEnum<{
            addMembers: "addMembers";
            changeInfo: "changeInfo";
            deleteMessages: "deleteMessages";
            postMessages: "postMessages";
            restrictMembers: "restrictMembers";
        }>>>;
        restrictedFor: z.ZodOptional<z.ZodString>;
        title: z.ZodOptional<z.ZodString>;
    }, z.core.$strict>]>>;
    history: z.ZodDefault<z.ZodArray<z.ZodObject<{
        from: z.ZodString;
        text: z.ZodString;
        ago: z.ZodDefault<z.ZodString>;
        replyTo: z.ZodOptional<z.ZodInt>;
        markup: z.ZodOptional<z.ZodObject<{
            inlineKeyboard: z.ZodArray<z.ZodArray<z.ZodObject<{
                text: z.ZodString;
                callbackData: z.ZodOptional<z.ZodString>;
                url: z.ZodOptional<z.ZodString>;
            }, z.core.$strict>>>;
        }, z.core.$strict>>;
    }, z.core.$strict>>>;
}, z.core.$strict>;
export declare const Seed: z.ZodObject<{
    $schema: z.ZodOptional<z.ZodString>;
    clock: z.ZodOptional<z.ZodObject<{
        at: z.ZodOptional<z.ZodISODateTime>;
        mode: z.ZodDefault<z.ZodEnum<{
            running: "running";
            still: "still";
        }>>;
    }, z.core.$strict>>;
    people: z.ZodDefault<z.ZodRecord<z.ZodString, z.ZodObject<{
        firstName: z.ZodOptional<z.ZodString>;
        lastName: z.ZodOptional<z.ZodString>;
        key: z.ZodDefault<z.ZodUnion<readonly [z.ZodEnum<{
            curve25519: "curve25519";
            expired: "expired";
            none: "none";
            p256: "p256";
            phone: "phone";
            revoked: "revoked";
            rsa3072: "rsa3072";
            "sign-only": "sign-only";
            v6: "v6";
            x25519: "x25519";
        }>, z.ZodObject<{
            publicKey: z.ZodString;
            fingerprint: z.ZodString;
        }, z.core.$strict>]>>;
        blocks: z.ZodDefault<z.ZodArray<z.ZodString>>;
        gone: z.ZodDefault<z.ZodBoolean>;
    }, z.core.$strict>>>;
    bots: z.ZodDefault<z.ZodRecord<z.ZodString, z.ZodObject<{
        name: z.ZodOptional<z.ZodString>;
        about: z.ZodOptional<z.ZodString>;
        description: z.ZodOptional<z.ZodString>;
        privacyMode: z.ZodDefault<z.ZodBoolean>;
        allowGroups: z.ZodDefault<z.ZodBoolean>;
        paused: z.ZodDefault<z.ZodBoolean>;
        key: z.ZodOptional<z.ZodObject<{
            publicKey: z.ZodString;
            fingerprint: z.ZodString;
        }, z.core.$strict>>;
        tokenSecret: z.ZodOptional<z.ZodString>;
        commands: z.ZodDefault<z.ZodRecord<z.ZodString, z.ZodArray<z.ZodObject<{
            command: z.ZodPipe<z.ZodPipe<z.ZodString, z.ZodTransform<string, string>>, z.ZodString>;
            description: z.ZodPipe<z.ZodPipe<z.ZodString, z.ZodTransform<string, string>>, z.ZodString>;
        }, z.core.$strict>>>>;
    }, z.core.$strict>>>;
    chats: z.ZodDefault<z.ZodRecord<z.ZodString, z.ZodDiscriminatedUnion<[z.ZodObject<{
        kind: z.ZodLiteral<"private">;
        person: z.ZodString;
        bot: z.ZodString;
        history: z.ZodDefault<z.ZodArray<z.ZodObject<{
            from: z.ZodString;
            text: z.ZodString;
            ago: z.ZodDefault<z.ZodString>;
            replyTo: z.ZodOptional<z.ZodInt>;
            markup: z.ZodOptional<z.ZodObject<{
                inlineKeyboard: z.ZodArray<z.ZodArray<z.ZodObject<{
                    text: z.ZodString;
                    callbackData: z.ZodOptional<z.ZodString>;
                    url: z.ZodOptional<z.ZodString>;
                }, z.core.$strict>>>;
            }, z.core.$strict>>;
        }, z.core.$strict>>>;
    }, z.core.$strict>, z.ZodObject<{
        kind: z.ZodEnum<{
            channel: "channel";
            group: "group";
        }>;
        mode: z.ZodDefault<z.ZodEnum<{
            open: "open";
            protected: "protected";
        }>>;
        title: z.ZodOptional<z.ZodString>;
        username: z.ZodOptional<z.ZodString>;
        description: z.ZodOptional<z.ZodString>;
        slowModeSeconds: z.ZodDefault<z.ZodInt>;
        rosterHidden: z.ZodDefault<z.ZodBoolean>;
        adminsHidden: z.ZodDefault<z.ZodBoolean>;
        members: z.ZodRecord<z.ZodString, z.ZodUnion<readonly [z.ZodEnum<{
            admin: "admin";
            member: "member";
            owner: "owner";
            restricted: "restricted";
        }>, z.ZodObject<{
            status: z.ZodEnum<{
                admin: "admin";
                member: "member";
                owner: "owner";
                restricted: "restricted";
            }>;
            rights: z.ZodOptional<z.ZodArray<z.ZodEnum<{
                addMembers: "addMembers";
                changeInfo: "changeInfo";
                deleteMessages: "deleteMessages";
                postMessages: "postMessages";
                restrictMembers: "restrictMembers";
            }>>>;
            restrictedFor: z.ZodOptional<z.ZodString>;
            title: z.ZodOptional<z.ZodString>;
        }, z.core.$strict>]>>;
        history: z.ZodDefault<z.ZodArray<z.ZodObject<{
            from: z.ZodString;
            text: z.ZodString;
            ago: z.ZodDefault<z.ZodString>;
            replyTo: z.ZodOptional<z.ZodInt>;
            markup: z.ZodOptional<z.ZodObject<{
                inlineKeyboard: z.ZodArray<z.ZodArray<z.ZodObject<{
                    text: z.ZodString;
                    callbackData: z.ZodOptional<z.ZodString>;
                    url: z.ZodOptional<z.ZodString>;
                }, z.core.$strict>>>;
            }, z.core.$strict>>;
        }, z.core.$strict>>>;
    }, z.core.$strict>], "kind">>>;
    schedule: z.ZodDefault<z.ZodArray<z.ZodObject<{
        at: z.ZodString;
        block: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        changeBot: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        changeChat: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        clearFaults: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        closeAccount: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        fault: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        givePhone: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        injectUpdate: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        issueToken: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        join: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        leave: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        newKey: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        pause: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        post: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        press: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        publishKey: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        removeKey: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        renamePerson: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        resume: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        revokeToken: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        sendMedia: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        setBotKey: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        setCommands: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        setMembership: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        setSeat: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        unblock: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        write: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
    }, z.core.$strict>>>;
    happenings: z.ZodDefault<z.ZodArray<z.ZodObject<{
        at: z.ZodString;
        block: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        changeBot: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        changeChat: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        clearFaults: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        closeAccount: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        fault: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        givePhone: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        injectUpdate: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        issueToken: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        join: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        leave: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        newKey: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        pause: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        post: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        press: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        publishKey: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        removeKey: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        renamePerson: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        resume: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        revokeToken: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        sendMedia: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        setBotKey: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        setCommands: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        setMembership: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        setSeat: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        unblock: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
        write: z.ZodOptional<z.ZodType<Record<string, unknown>, unknown, z.core.$ZodTypeInternals<Record<string, unknown>, unknown>>>;
    }, z.core.$strict>>>;
    faults: z.ZodDefault<z.ZodArray<z.ZodObject<z.core.$ZodLooseShape, z.core.$strip>>>;
}, z.core.$strict>;
/** A seed as a file has it, and as `readSeed` gives it. */
export type SeedInput = z.input<typeof Seed>;
export type Seed = z.output<typeof Seed>;
export type SeedPerson = z.output<typeof Person>;
export type SeedBot = z.output<typeof Bot>;
export type SeedRoom = z.output<typeof Room>;
export type SeedMessage = z.output<typeof Message>;
/** @returns JSON Schema (draft 2020-12) as text; config/sandbox-seed.schema.json is a copy */
export declare function seedSchema(): string;
export {};
