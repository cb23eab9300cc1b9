/** Operations on the sidecar as a whole. */
import { z } from 'zod';
export declare const SIDECAR: {
    status: import("../rpc/operation.ts").Operation<import("./operation.ts").Parts, z.ZodObject<{}, z.core.$strict>, import("./reports.ts").StatusReport>;
    check: import("../rpc/operation.ts").Operation<import("./operation.ts").Parts, z.ZodObject<{}, z.core.$strict>, import("./reports.ts").Finding[]>;
    open: import("../rpc/operation.ts").Operation<import("./operation.ts").Parts, z.ZodObject<{
        armored: z.ZodString;
    }, z.core.$strict>, import("./reports.ts").OpenReport>;
};
