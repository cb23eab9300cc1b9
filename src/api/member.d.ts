import { z } from 'zod';
/** A roster entry: a person with a seat. The spec names no field, so all but the id is open. */
export declare const Member: z.ZodObject<{
    id: z.ZodInt;
    username: z.ZodOptional<z.ZodNullable<z.ZodString>>;
    firstName: z.ZodOptional<z.ZodString>;
    lastName: z.ZodOptional<z.ZodNullable<z.ZodString>>;
    status: z.ZodOptional<z.ZodString>;
    rights: z.ZodOptional<z.ZodInt>;
    title: z.ZodOptional<z.ZodNullable<z.ZodString>>;
}, z.core.$loose>;
export type Member = z.infer<typeof Member>;
/** Result of `GET /chats/{chatId}/members`; `memberCount` counts the list as returned. */
export declare const Members: z.ZodObject<{
    members: z.ZodArray<z.ZodObject<{
        id: z.ZodInt;
        username: z.ZodOptional<z.ZodNullable<z.ZodString>>;
        firstName: z.ZodOptional<z.ZodString>;
        lastName: z.ZodOptional<z.ZodNullable<z.ZodString>>;
        status: z.ZodOptional<z.ZodString>;
        rights: z.ZodOptional<z.ZodInt>;
        title: z.ZodOptional<z.ZodNullable<z.ZodString>>;
    }, z.core.$loose>>;
    memberCount: z.ZodInt;
}, z.core.$loose>;
