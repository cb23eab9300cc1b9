import { z } from 'zod';
/** A fault's name and options; see src/sandbox/faults/table.ts. */
export declare const FaultInput: z.ZodObject<{
    name: z.ZodEnum<{
        answer: "answer";
        "claim-fingerprint": "claim-fingerprint";
        "claim-kind": "claim-kind";
        "claim-mode": "claim-mode";
        "claim-unprotected": "claim-unprotected";
        cut: "cut";
        delay: "delay";
        error: "error";
        ghost: "ghost";
        "giant-body": "giant-body";
        "half-answer": "half-answer";
        hang: "hang";
        "hide-key": "hide-key";
        html: "html";
        "invalid-json": "invalid-json";
        "keep-confirmed": "keep-confirmed";
        "late-key": "late-key";
        "lost-answer": "lost-answer";
        redirect: "redirect";
        "slow-body": "slow-body";
        "swap-key": "swap-key";
    }>;
    route: z.ZodOptional<z.ZodString>;
    botId: z.ZodOptional<z.ZodInt>;
    times: z.ZodOptional<z.ZodInt>;
    after: z.ZodOptional<z.ZodInt>;
    oneIn: z.ZodOptional<z.ZodInt>;
    seed: z.ZodOptional<z.ZodInt>;
    delayMs: z.ZodOptional<z.ZodInt>;
    bytes: z.ZodOptional<z.ZodInt>;
    status: z.ZodOptional<z.ZodInt>;
    code: z.ZodOptional<z.ZodString>;
    retryAfter: z.ZodOptional<z.ZodInt>;
    retryAfterHeader: z.ZodOptional<z.ZodString>;
    expected: z.ZodOptional<z.ZodEnum<{
        armored: "armored";
        text: "text";
    }>>;
    headers: z.ZodOptional<z.ZodRecord<z.ZodString, z.ZodString>>;
    body: z.ZodOptional<z.ZodString>;
    location: z.ZodOptional<z.ZodString>;
    chatId: z.ZodOptional<z.ZodInt>;
    mode: z.ZodOptional<z.ZodEnum<{
        open: "open";
        protected: "protected";
    }>>;
    historyVisible: z.ZodOptional<z.ZodBoolean>;
    kind: z.ZodOptional<z.ZodString>;
    userId: z.ZodOptional<z.ZodInt>;
    publicKey: z.ZodOptional<z.ZodString>;
    fingerprint: z.ZodOptional<z.ZodString>;
}, z.core.$strict>;
/** The clock, the schedule, faults, and the transcript. */
export declare const ADMIN: {
    advance: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{
        ms: z.ZodInt;
    }, z.core.$strict>, {
        now: number;
    }>;
    now: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{}, z.core.$strict>, {
        now: number;
    }>;
    schedule: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{}, z.core.$strict>, {
        left: number;
        errors: import("../seed/schedule.ts").StepError[];
    }>;
    story: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{}, z.core.$strict>, {
        left: number;
        mishaps: import("../seed/former-names.ts").Mishap[];
    }>;
    fault: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{
        name: z.ZodEnum<{
            answer: "answer";
            "claim-fingerprint": "claim-fingerprint";
            "claim-kind": "claim-kind";
            "claim-mode": "claim-mode";
            "claim-unprotected": "claim-unprotected";
            cut: "cut";
            delay: "delay";
            error: "error";
            ghost: "ghost";
            "giant-body": "giant-body";
            "half-answer": "half-answer";
            hang: "hang";
            "hide-key": "hide-key";
            html: "html";
            "invalid-json": "invalid-json";
            "keep-confirmed": "keep-confirmed";
            "late-key": "late-key";
            "lost-answer": "lost-answer";
            redirect: "redirect";
            "slow-body": "slow-body";
            "swap-key": "swap-key";
        }>;
        route: z.ZodOptional<z.ZodString>;
        botId: z.ZodOptional<z.ZodInt>;
        times: z.ZodOptional<z.ZodInt>;
        after: z.ZodOptional<z.ZodInt>;
        oneIn: z.ZodOptional<z.ZodInt>;
        seed: z.ZodOptional<z.ZodInt>;
        delayMs: z.ZodOptional<z.ZodInt>;
        bytes: z.ZodOptional<z.ZodInt>;
        status: z.ZodOptional<z.ZodInt>;
        code: z.ZodOptional<z.ZodString>;
        retryAfter: z.ZodOptional<z.ZodInt>;
        retryAfterHeader: z.ZodOptional<z.ZodString>;
        expected: z.ZodOptional<z.ZodEnum<{
            armored: "armored";
            text: "text";
        }>>;
        headers: z.ZodOptional<z.ZodRecord<z.ZodString, z.ZodString>>;
        body: z.ZodOptional<z.ZodString>;
        location: z.ZodOptional<z.ZodString>;
        chatId: z.ZodOptional<z.ZodInt>;
        mode: z.ZodOptional<z.ZodEnum<{
            open: "open";
            protected: "protected";
        }>>;
        historyVisible: z.ZodOptional<z.ZodBoolean>;
        kind: z.ZodOptional<z.ZodString>;
        userId: z.ZodOptional<z.ZodInt>;
        publicKey: z.ZodOptional<z.ZodString>;
        fingerprint: z.ZodOptional<z.ZodString>;
    }, z.core.$strict>, {
        id: number;
    }>;
    clearFaults: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{
        id: z.ZodOptional<z.ZodInt>;
    }, z.core.$strict>, {
        cleared: boolean;
    }>;
    transcript: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{
        after: z.ZodOptional<z.ZodInt>;
    }, z.core.$strict>, import("../transcript.ts").TranscriptCall[]>;
    search: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{
        words: z.ZodString;
    }, z.core.$strict>, import("../transcript.ts").TranscriptCall[]>;
    clearTranscript: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{}, z.core.$strict>, {
        cleared: boolean;
    }>;
};
