/**
 * Operations as data: a table says what each one means, takes and does. Listeners, clients and the
 * types of both are derived from it.
 */
import type { z } from 'zod';
/** Something that can be asked for by name. `On` is what it works on. */
export interface Operation<On, I extends z.ZodType, R> {
    /** What it does, in a sentence or two. */
    description: string;
    input: I;
    run: (on: On, input: z.output<I>) => R | Promise<R>;
}
/** Any of them, for whoever walks a table. */
export interface AnyOperation<On, I extends z.ZodType = z.ZodType> {
    description: string;
    input: I;
    run: (on: On, input: never) => unknown;
}
/** Gives the function that makes operations which work on `On`. */
export declare function operationsOn<On>(): <I extends z.ZodType, R>(description: string, input: I, run: Operation<On, I, R>['run']) => Operation<On, I, R>;
/** The operations of a table as one calls them; an input without a required field may be left out. */
export type Calls<Table> = {
    [Name in keyof Table]: Table[Name] extends {
        run: (on: never, input: infer I) => infer R;
    } ? (...input: Record<string, never> extends I ? [input?: I] : [input: I]) => Promise<Awaited<R>> : never;
};
/**
 * Makes the calls of a table.
 * @param call does what is asked for; `name` is one of the table's, `input` an empty object when
 *   it was left out
 */
export declare function deriveCalls<Table extends object>(table: Table, call: (name: keyof Table & string, input: object) => Promise<unknown>): Calls<Table>;
/** Makes the calls of a table in this process. Inputs are taken as they are. */
export declare function bindCalls<On, Table extends Record<string, AnyOperation<On>>>(table: Table, on: On): Calls<Table>;
/**
 * Makes the calls of a table that is known by its type alone, for a client that must not load what
 * the operations do.
 * @param extra what else the client has, such as how it is disposed of
 */
export declare function remoteCalls<Table, Extra extends object>(call: (name: string, input: object) => Promise<unknown>, extra: Extra): Calls<Table> & Extra;
