import type { Publication } from '../keys/publication.ts';
import type { RotationReport } from './reports.ts';
export declare const ROTATION: {
    keyRotate: import("../rpc/operation.ts").Operation<import("./operation.ts").Parts, import("zod").ZodObject<{}, import("zod/v4/core").$strict>, RotationReport>;
    keyRotation: import("../rpc/operation.ts").Operation<import("./operation.ts").Parts, import("zod").ZodObject<{}, import("zod/v4/core").$strict>, RotationReport | null>;
    keyAbandon: import("../rpc/operation.ts").Operation<import("./operation.ts").Parts, import("zod").ZodObject<{}, import("zod/v4/core").$strict>, RotationReport>;
};
/** The rotation under way, or the last one since the start. */
export declare function rotationReport(publication: Publication | null): RotationReport | null;
/** @throws OperatorError `refused` when the sidecar manages no key */
export declare function managed(publication: Publication | null): Publication;
